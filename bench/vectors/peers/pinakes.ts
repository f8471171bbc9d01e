/**
 * Ours, as users run it: `open({ dir })`, SQLite and a folder, appended in deltas, compacted, queried with strong reads through the public
 * API.
 */
import { hasCode, open as openPinakes, tenantScope } from "../../../packages/pinakes/src/index.ts";
import { inProcess, startBuild, type Candidate, type TextSet, type VectorSet } from "../candidate.ts";
import { diskBytesOf } from "../processes.ts";

const scope = tenantScope("bench");
const collection = "bench";
const deltaRows = 10_000;

export async function open(dir: string): Promise<Candidate> {
  const pinakes = await openPinakes({ dir, background: false });
  const { vectors } = pinakes;
  return {
    ...inProcess,
    name: "pinakes",
    note: `strong reads through the public API; deltas of ${deltaRows} rows, then compacted into one segment; the build has all of it, with metadata and fsyncs`,
    parameters: [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999],
    build: async (data: VectorSet) => {
      const built = startBuild(inProcess.cpuMs);
      await vectors.create(scope, collection, { dims: data.dims, language: "none" });
      const append = async (from: number): Promise<void> => {
        const upsert = Array.from({ length: Math.min(deltaRows, data.rows - from) }, (_, i) => {
          const row = from + i;
          const vector = data.vectors.subarray(row * data.dims, (row + 1) * data.dims);
          return {
            id: String(row),
            vector,
            metadata: { tag10: data.tag10[row] as number, tag1: data.tag1[row] as number },
          };
        });
        try {
          await vectors.append(scope, collection, { upsert });
        } catch (error) {
          if (!hasCode(error, "THROTTLED")) throw error;
          await vectors.compact(scope, collection);
          await append(from);
        }
      };
      // Two producers, so that one's rows are validated while the other's are built.
      const next = { row: 0 };
      const producer = async (): Promise<void> => {
        for (let from = next.row; from < data.rows; from = next.row) {
          next.row += deltaRows;
          await append(from);
        }
      };
      await Promise.all([producer(), producer()]);
      await vectors.compact(scope, collection, { all: true });
      const measured = built(0);
      await vectors.collect(scope, collection);
      const { bytes, segments } = await vectors.stats(scope, collection);
      console.error(`pinakes: ${segments.length} segment(s)`);
      return { ...measured, diskBytes: bytes };
    },
    search: async (query, k, recall, filter) => {
      const { hits } = await vectors.query(scope, collection, {
        vector: query,
        limit: k,
        recall: recall as number,
        ...(filter === undefined ? {} : { filter: { [filter.field]: filter.equals } }),
      });
      return hits.map(({ id }) => Number(id));
    },
    close: () => pinakes.close(),
  };
}

export async function openText(dir: string): Promise<Candidate<TextSet, readonly string[]>> {
  const pinakes = await openPinakes({ dir, background: false });
  const { vectors } = pinakes;
  return {
    ...inProcess,
    name: "pinakes",
    note: "BM25 through the public API with strong reads, English stemming, one segment",
    parameters: [0],
    noFilter: "not asked here",
    build: async (data: TextSet) => {
      const built = startBuild(inProcess.cpuMs);
      await vectors.create(scope, collection, { dims: 2 });
      for (let from = 0; from < data.rows; from += deltaRows) {
        const upsert = data.texts
          .slice(from, from + deltaRows)
          .map((text, i) => ({ id: String(from + i), vector: [1, 0], text }));
        await vectors.append(scope, collection, { upsert });
      }
      await vectors.compact(scope, collection, { all: true });
      return built(diskBytesOf(`${dir}/objects`));
    },
    search: async (terms, k) => {
      const { hits } = await vectors.query(scope, collection, { text: terms.join(" "), limit: k });
      return hits.map(({ id }) => Number(id));
    },
    close: () => pinakes.close(),
  };
}
