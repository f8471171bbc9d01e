/** pgvector in PGlite, PostgreSQL as WebAssembly in this process: the fallback without a server. Slower than the real one. */
import { join } from "node:path";
import { inProcess } from "../candidate.ts";
import { diskBytesOf } from "../processes.ts";
import type { Postgres } from "./pgvector.ts";

export async function openPglite(dir: string, reason: string): Promise<Postgres> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { vector } = await import("@electric-sql/pglite-pgvector");
  const folder = join(dir, "pglite");
  const db = await PGlite.create({ dataDir: folder, extensions: { vector } });
  await db.exec("SET maintenance_work_mem = '512MB'");
  return {
    ...inProcess,
    name: "pgvector (PGlite)",
    note: `not a server: ${reason}; PGlite 0.5.14 in WebAssembly, in process`,
    load: async ({ rows, dims, vectors, tag10, tag1 }) => {
      const batch = 5_000;
      for (let first = 0; first < rows; first += batch) {
        const lines = Array.from({ length: Math.min(batch, rows - first) }, (_, i) => {
          const id = first + i;
          return `${id}\t${tag10[id]}\t${tag1[id]}\t[${vectors.subarray(id * dims, (id + 1) * dims).join(",")}]\n`;
        });
        await db.query("COPY rows FROM '/dev/blob'", [], { blob: new Blob(lines) });
      }
    },
    run: async (sql) => void (await db.exec(sql)),
    ids: async (_name, sql, query, ...others) => {
      const found = await db.query<[number]>(sql, [`[${query.join(",")}]`, ...others], { rowMode: "array" });
      return found.rows.map(([id]) => id);
    },
    diskBytes: async () => diskBytesOf(join(folder, "base")),
    close: () => db.close(),
  };
}
