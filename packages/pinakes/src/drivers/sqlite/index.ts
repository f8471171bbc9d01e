import { createItemStore, type ItemStoreOptions } from "../../items/create-item-store.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { SqliteItemEngine } from "./engine.ts";

export interface OpenSqliteOptions extends ItemStoreOptions {
  /** The folder of the database file; made when absent. */
  readonly dir: string;
  readonly database?: string;
}

/**
 * Items in a SQLite file, durable on return.
 *
 * @example
 * await using items = await openSqliteItems({ dir: "./data" });
 */
export async function openSqliteItems({ dir, database = "project-ascension-db", ...options }: OpenSqliteOptions): Promise<ItemStore> {
  return createItemStore(new SqliteItemEngine({ dir, database }), options);
}
