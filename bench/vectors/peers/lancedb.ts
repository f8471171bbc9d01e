/** LanceDB: in process, columns on disk, IVF_HNSW_SQ. */
import type { Table } from "@lancedb/lancedb";
import { inProcess, startBuild, type Candidate, type VectorSet } from "../candidate.ts";
import { diskBytesOf } from "../processes.ts";

export async function open(dir: string): Promise<Candidate> {
  const lancedb = await import("@lancedb/lancedb");
  const connection = await lancedb.connect(dir);
  let table: Table | undefined;
  return {
    ...inProcess,
    name: "LanceDB",
    note: "@lancedb/lancedb 0.39.0, IVF_HNSW_SQ M=16 efConstruction=128, inner product; parameter: nprobes, ef, refine",
    parameters: [
      [1, 32, 1],
      [1, 64, 1],
      [2, 64, 1],
      [4, 64, 1],
      [8, 64, 1],
      [10, 64, 2],
      [20, 100, 2],
      [20, 150, 5],
      [20, 300, 10],
    ],
    build: async (data: VectorSet) => {
      const rows = await toArrow(data);
      const built = startBuild(inProcess.cpuMs);
      table = await connection.createTable("rows", rows, { mode: "overwrite" });
      const config = lancedb.Index.hnswSq({ distanceType: "dot", m: 16, efConstruction: 128 });
      await table.createIndex("vector", { config, waitTimeoutSeconds: 3_600 });
      for (const field of ["tag10", "tag1"])
        await table.createIndex(field, { config: lancedb.Index.bitmap(), waitTimeoutSeconds: 600 });
      return built(diskBytesOf(dir));
    },
    search: async (query, k, parameter, filter) => {
      if (table === undefined) throw new Error("not built");
      const [nprobes = 1, ef = 64, refine = 1] = parameter as readonly number[];
      let search = table
        .vectorSearch(query)
        .distanceType("dot")
        .nprobes(nprobes)
        .ef(ef)
        .refineFactor(refine)
        .select(["id", "_distance"])
        .limit(k);
      if (filter !== undefined) search = search.where(`${filter.field} = ${filter.equals}`);
      const found = await search.toArrow();
      return (found.getChild("id")?.toArray() ?? []) as Int32Array;
    },
    close: async () => {
      table?.close();
      connection.close();
    },
  };
}

async function toArrow({ rows, dims, vectors, tag10, tag1 }: VectorSet) {
  const arrow = await import("apache-arrow");
  const child = arrow.makeData({ type: new arrow.Float32(), data: vectors });
  const type = new arrow.FixedSizeList(dims, new arrow.Field("item", new arrow.Float32(), true));
  return new arrow.Table({
    id: arrow.vectorFromArray(Int32Array.from({ length: rows }, (_, i) => i)),
    tag10: arrow.vectorFromArray(Int32Array.from(tag10)),
    tag1: arrow.vectorFromArray(Int32Array.from(tag1)),
    vector: new arrow.Vector([arrow.makeData({ type, length: rows, nullCount: 0, child })]),
  });
}
