import { invalid } from "../../../domain/errors.ts";
import type { TripleStore } from "../../../ports/triple-store.ts";
import { createTripleStore } from "../../../triples/create-triple-store.ts";
import { PostgresTripleEngine } from "./engine.ts";

export interface PostgresTriplesOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** The PostgreSQL schema that holds everything; created if absent. May be the one of the items. */
  readonly database?: string | undefined;
  /** Maximum number of connections. */
  readonly poolSize?: number | undefined;
}

/**
 * Triples in PostgreSQL 13 or newer.
 *
 * @example
 * await using triples = await openPostgresTriples({ url: "postgres://localhost/app" });
 * await triples.open(scope, "papers-1");
 */
export async function openPostgresTriples({
  url,
  database = "pinakes",
  poolSize = 10,
}: PostgresTriplesOptions): Promise<TripleStore> {
  if (typeof url !== "string" || !/^postgres(ql)?:\/\//.test(url))
    throw invalid("url: give the address of the server as postgres://user:password@host:port/database.");
  if (!Number.isInteger(poolSize) || poolSize < 1 || poolSize > 1_000)
    throw invalid(`poolSize: must be a whole number from 1 to 1000, got ${JSON.stringify(poolSize)}.`);
  return createTripleStore(await PostgresTripleEngine.open(url, database, poolSize));
}
