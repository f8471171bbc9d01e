/**
 * pgvector: a real PostgreSQL 17 with Debian's package of pgvector, in a chroot (see pgvector-server.ts), over a socket with binary
 * parameters. If that is unavailable (no root, no mmdebstrap, no mirror), PGlite's WebAssembly build replaces it, and its name and note say
 * so.
 */
import { startBuild, type Candidate, type Parameter, type VectorSet } from "../candidate.ts";
import { openPglite } from "./pgvector-pglite.ts";
import { openServer } from "./pgvector-server.ts";

/** What the two have in common. */
export interface Postgres {
  readonly name: string;
  readonly note: string;
  /** Fills `rows (id, tag10, tag1, v)`. */
  load(data: VectorSet): Promise<void>;
  run(sql: string): Promise<void>;
  /** First column of the result, of a statement that is prepared under `name`. */
  ids(name: string, sql: string, vector: Float32Array, ...others: number[]): Promise<number[]>;
  cpuMs(): number;
  rssBytes(): number;
  diskBytes(): Promise<number>;
  close(): Promise<void>;
}

export async function open(dir: string): Promise<Candidate> {
  const postgres = await openServer().catch((error: unknown) =>
    openPglite(dir, error instanceof Error ? error.message : String(error)),
  );
  let current: Parameter | undefined;
  return {
    name: postgres.name,
    note: `${postgres.note}, HNSW m=16 ef_construction=128, f32, inner product; filters: B-trees and iterative scans`,
    parameters: [10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512],
    cpuMs: () => postgres.cpuMs(),
    rssBytes: () => postgres.rssBytes(),
    build: async (data) => {
      const built = startBuild(() => postgres.cpuMs());
      await postgres.run(
        `CREATE EXTENSION vector; CREATE TABLE rows (id int4 PRIMARY KEY, tag10 int4 NOT NULL, tag1 int4 NOT NULL, v vector(${data.dims}) NOT NULL)`,
      );
      await postgres.load(data);
      await postgres.run("CREATE INDEX ON rows USING hnsw (v vector_ip_ops) WITH (m = 16, ef_construction = 128)");
      await postgres.run("CREATE INDEX ON rows (tag10); CREATE INDEX ON rows (tag1)");
      await postgres.run("VACUUM ANALYZE rows");
      await postgres.run("CHECKPOINT; SET hnsw.iterative_scan = relaxed_order");
      return built(await postgres.diskBytes());
    },
    search: async (query, k, ef, filter) => {
      if (current !== ef) await postgres.run(`SET hnsw.ef_search = ${(current = ef) as number}`);
      if (filter === undefined)
        return postgres.ids("nearest", "SELECT id FROM rows ORDER BY v <#> $1::vector LIMIT $2", query, k);
      const sql = `SELECT id FROM rows WHERE ${filter.field} = $3 ORDER BY v <#> $1::vector LIMIT $2`;
      return postgres.ids(filter.field, sql, query, k, filter.equals);
    },
    close: () => postgres.close(),
  };
}
