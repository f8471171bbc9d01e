import { existsSync } from "node:fs";
import { join } from "node:path";
import { createItemStore, type ItemStoreOptions } from "../../items/create-item-store.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { createTripleStore } from "../../triples/create-triple-store.ts";
import { SqliteItemEngine } from "./engine.ts";
import { SqliteTripleEngine } from "./triples/engine.ts";

export interface OpenSqliteOptions extends ItemStoreOptions {
  /** The folder of the database file; created if absent. */
  readonly dir: string;
  readonly database?: string | undefined;
}

/**
 * Items in a SQLite file, durable on return.
 *
 * @example
 * await using items = await openSqliteItems({ dir: "./data" });
 */
export async function openSqliteItems({
  dir,
  database = "pinakes",
  ...options
}: OpenSqliteOptions): Promise<ItemStore> {
  return createItemStore(new SqliteItemEngine({ dir, database }), options);
}

/** The engine below the store, for moving all data elsewhere. */
export function connectSqliteEngine({
  dir,
  database,
}: {
  readonly dir: string;
  readonly database: string;
}): SqliteItemEngine {
  return new SqliteItemEngine({ dir, database });
}

/** Whether there are items of this database; creates nothing. */
export function hasSqliteItems({ dir, database }: { readonly dir: string; readonly database: string }): boolean {
  return existsSync(join(dir, `${database}.sqlite`));
}

/** The folder of the file, created if absent, and the database, which prefixes the name of the file. */
export interface OpenSqliteTriplesOptions {
  readonly dir: string;
  readonly database?: string | undefined;
}

/**
 * Triples in a separate SQLite file, durable on return.
 *
 * @example
 * await using triples = await openSqliteTriples({ dir: "./data" });
 */
export async function openSqliteTriples({ dir, database = "pinakes" }: OpenSqliteTriplesOptions): Promise<TripleStore> {
  return createTripleStore(new SqliteTripleEngine({ dir, database }));
}
