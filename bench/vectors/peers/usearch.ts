/** usearch: HNSW in process, half-precision, searched from a mapped file. Searches are synchronous; ef is fixed when an index is opened. */
import { join } from "node:path";
import { inProcess, startBuild, type Candidate, type VectorSet } from "../candidate.ts";
import { diskBytesOf } from "../processes.ts";

export async function open(dir: string): Promise<Candidate> {
  const { Index, MetricKind, ScalarKind } = await import("usearch");
  const path = join(dir, "index.usearch");
  let dimensions = 0;
  const create = (ef: number) =>
    new Index({
      dimensions,
      // The same order as cosine, as the vectors have length one, and less work.
      metric: MetricKind.IP,
      quantization: ScalarKind.F16,
      connectivity: 16,
      expansion_add: 128,
      expansion_search: ef,
      multi: false,
    });
  let opened: { ef: number; index: InstanceType<typeof Index> } | undefined;
  return {
    ...inProcess,
    name: "usearch f16",
    note: "usearch 2.26.2, HNSW M=16 efConstruction=128, f16, inner product, view() of the file, synchronous",
    parameters: [10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512],
    noFilter: "the Node binding has no filter",
    build: async (data: VectorSet) => {
      ({ dims: dimensions } = data);
      const built = startBuild(inProcess.cpuMs);
      const index = create(64);
      index.add(
        BigUint64Array.from({ length: data.rows }, (_, i) => BigInt(i)),
        data.vectors,
      );
      index.save(path);
      return built(diskBytesOf(path));
    },
    search: (query, k, ef) => {
      if (opened?.ef !== ef) {
        opened = { ef: ef as number, index: create(ef as number) };
        opened.index.view(path);
      }
      return Array.from(opened.index.search(query, k, 1).keys as BigUint64Array, Number);
    },
    close: async () => {
      opened = undefined;
    },
  };
}
