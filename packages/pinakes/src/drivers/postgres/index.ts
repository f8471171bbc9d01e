import { invalid } from "../../domain/errors.ts";
import { createItemStore } from "../../items/create-item-store.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { PostgresItemEngine } from "./engine.ts";

export interface PostgresItemsOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** The PostgreSQL schema that holds everything; made when it is absent. */
  readonly database?: string;
  /** Connections at most; an index that is being built takes one more. */
  readonly poolSize?: number;
  readonly clock?: Clock;
}

/**
 * Items in PostgreSQL 13 or newer.
 *
 * @example
 * await using items = await openPostgresItems({ url: "postgres://localhost/app" });
 * await items.openContainer({ name: "notes", partitionKey: ["notebook"] });
 */
export async function openPostgresItems({
  url,
  database = "project-ascension-db",
  poolSize = 10,
  clock = systemClock,
}: PostgresItemsOptions): Promise<ItemStore> {
  if (typeof url !== "string" || !/^postgres(ql)?:\/\//.test(url))
    throw invalid("url: give the address of the server as postgres://user:password@host:port/database.");
  if (!Number.isInteger(poolSize) || poolSize < 1 || poolSize > 1_000)
    throw invalid(`poolSize: must be a whole number from 1 to 1000, got ${JSON.stringify(poolSize)}.`);
  const engine = await PostgresItemEngine.open(url, database, poolSize, clock);
  return createItemStore(engine, { clock });
}

/** The engine below the store, for moving all of it elsewhere. */
export async function connectPostgresEngine({
  url,
  database,
  clock = systemClock,
}: PostgresItemsOptions & { readonly database: string }): Promise<PostgresItemEngine> {
  return PostgresItemEngine.open(url, database, 10, clock);
}

export { openPostgresTriples } from "./triples/index.ts";
