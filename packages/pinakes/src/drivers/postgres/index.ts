import { invalid } from "../../domain/errors.ts";
import { createItemStore } from "../../items/create-item-store.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { Database } from "./connection.ts";
import { PostgresItemEngine } from "./engine.ts";
import { Names } from "./names.ts";

export interface PostgresItemsOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** The PostgreSQL schema that holds everything; created if absent. */
  readonly database?: string | undefined;
  /** Maximum number of connections; an index build takes one more. */
  readonly poolSize?: number | undefined;
  readonly clock?: Clock | undefined;
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
  database = "pinakes",
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

/** The engine below the store, for moving all data elsewhere. */
export async function connectPostgresEngine({
  url,
  database,
  clock = systemClock,
}: PostgresItemsOptions & { readonly database: string }): Promise<PostgresItemEngine> {
  return PostgresItemEngine.open(url, database, 10, clock);
}

/** Whether there are items of this database; creates nothing. */
export async function hasPostgresItems({
  url,
  database,
}: {
  readonly url: string;
  readonly database: string;
}): Promise<boolean> {
  const connection = await Database.open(url, 1);
  try {
    const [row] = await connection.query<[string | null]>("SELECT to_regclass($1)::text", [new Names(database).meta]);
    return (row?.[0] ?? null) !== null;
  } finally {
    await connection.close();
  }
}

export { openPostgresTriples } from "./triples/index.ts";
