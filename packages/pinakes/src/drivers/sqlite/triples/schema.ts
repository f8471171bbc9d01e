/**
 * The layout of the triples' SQLite file. One set of tables for all spaces: the number of tables does not grow with the number of
 * collections.
 *
 * Terms are interned for each space, as small numbers from the space's own counter, never reused: a position in an order stays valid, and a
 * text read for a number is always valid. A text is stored once; it is found by a hash of 48 bits, a safe integer in JavaScript and SQLite,
 * and compared.
 *
 * Triples of the default graph are in three covering orders, quads of named graphs in six. 0 stands for no graph.
 *
 * Support. A quad without support rows is asserted. One that has some is asserted too if one of them is of source 0.
 */
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Position } from "../../../triples/match-order.ts";
import { format, requireFormat } from "../schema.ts";

/** The columns of each order, after the space. The table is named after them. */
export const tripleOrders = ["spo", "pos", "osp"] as const;
export const quadOrders = ["spog", "posg", "ospg", "gspo", "gpos", "gosp"] as const;
export type Order = (typeof tripleOrders)[number] | (typeof quadOrders)[number];

export const placesOf = (order: Order): Position[] => order.split("") as Position[];

/** The source that means "asserted, and supported besides". */
export const assertedSource = 0;

export function createTripleTables(db: DatabaseSync): void {
  // Writes nothing if everything exists: opening must not wait for another process's write.
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined)
    return requireFormat(db, "triples");
  const orders = [...tripleOrders, ...quadOrders].map((order) => {
    const columns = placesOf(order);
    return `CREATE TABLE IF NOT EXISTS ${order} (space INTEGER NOT NULL, ${columns.map((column) => `${column} INTEGER NOT NULL`).join(", ")}, PRIMARY KEY (space, ${columns.join(", ")})) WITHOUT ROWID;`;
  });
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS spaces (
      id INTEGER PRIMARY KEY,
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      status TEXT NOT NULL,
      triples INTEGER NOT NULL DEFAULT 0,
      quads INTEGER NOT NULL DEFAULT 0,
      supports INTEGER NOT NULL DEFAULT 0,
      terms INTEGER NOT NULL DEFAULT 0,
      next_term INTEGER NOT NULL DEFAULT 1,
      UNIQUE (tenant, name));
    CREATE TABLE IF NOT EXISTS terms (space INTEGER NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS term_hashes (space INTEGER NOT NULL, hash INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (space, hash, id)) WITHOUT ROWID;
    ${orders.join("\n")}
    CREATE TABLE IF NOT EXISTS sources (space INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID;
    CREATE UNIQUE INDEX IF NOT EXISTS sources_by_name ON sources (space, name);
    CREATE TABLE IF NOT EXISTS supports (
      space INTEGER NOT NULL, s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, g INTEGER NOT NULL,
      source INTEGER NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (space, s, p, o, g, source, part)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS supports_by_source (
      space INTEGER NOT NULL, source INTEGER NOT NULL, s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, g INTEGER NOT NULL,
      part INTEGER NOT NULL, PRIMARY KEY (space, source, s, p, o, g, part)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT OR IGNORE INTO meta VALUES ('format', '${format}');
    COMMIT;`);
}

/** Of SHA-1: thousands of colliding terms cannot be constructed, and the ones that do collide cost a comparison each. */
export function hashOf(text: string): number {
  return Number.parseInt(hash("sha1", text).slice(0, 12), 16);
}
