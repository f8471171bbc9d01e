/**
 * What the stores hold of an incarnation, counted in their tables and folders, without any code that deletes. The fences stay for ever, by
 * design: they reject late writers, and hold no data.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { DeletesServer } from "./server.ts";

export interface Leftovers {
  readonly documents: number;
  readonly vectors: number;
  readonly triples: number;
  /** Of both: files, texts, segments with vectors and words. */
  readonly objects: number;
}

const database = "pinakes";
/** Every order and every auxiliary table of the triples. */
const tripleTables = {
  SQLite: [
    "terms",
    "term_hashes",
    "spo",
    "pos",
    "osp",
    "spog",
    "posg",
    "ospg",
    "gspo",
    "gpos",
    "gosp",
    "sources",
    "supports",
    "supports_by_source",
  ],
  PostgreSQL: ["pinakes_triple_terms", "pinakes_triples", "pinakes_quads", "pinakes_triple_supports"],
} as const;

export async function leftovers(server: DeletesServer, incarnation: string): Promise<Leftovers> {
  const objects = readdirSync(join(server.dir, "objects"), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.parentPath.includes(incarnation),
  ).length;
  const rows =
    server.postgresUrl === undefined
      ? inSqlite(server.dir, incarnation)
      : await inPostgres(server.postgresUrl, incarnation);
  return { ...rows, objects };
}

export function sum({ documents, vectors, triples, objects }: Leftovers): number {
  return documents + vectors + triples + objects;
}

type Rows = Omit<Leftovers, "objects">;
const itemsSql = (table: string, name: string): string =>
  `SELECT count(*) AS n FROM ${table} WHERE pk LIKE ${name} AND id <> 'fence'`;

function inSqlite(dir: string, incarnation: string): Rows {
  using items = new DatabaseSync(join(dir, `${database}.sqlite`), { readOnly: true });
  using triples = new DatabaseSync(join(dir, `${database}-triples.sqlite`), { readOnly: true });
  const count = (db: DatabaseSync, sql: string, value: string): number => Number(db.prepare(sql).get(value)?.["n"]);
  const ofTable = (table: string): number =>
    count(
      triples,
      `SELECT count(*) AS n FROM ${table} WHERE space IN (SELECT id FROM spaces WHERE name = ?)`,
      incarnation,
    );
  return {
    documents: count(items, itemsSql("c_documents", "?"), `%${incarnation}%`),
    vectors: count(items, itemsSql("c_vectors", "?"), `%${incarnation}%`),
    triples: tripleTables.SQLite.reduce((total, table) => total + ofTable(table), 0),
  };
}

async function inPostgres(url: string, incarnation: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const count = async (sql: string, value: string): Promise<number> =>
      Number((await client.query<{ n: string }>(sql, [value])).rows[0]?.n);
    const table = (name: string): string => `"${database}"."${name}"`;
    let triples = 0;
    for (const name of tripleTables.PostgreSQL)
      triples += await count(
        `SELECT count(*) AS n FROM ${table(name)} WHERE space IN (SELECT id FROM ${table("pinakes_triple_spaces")} WHERE name = $1)`,
        incarnation,
      );
    return {
      documents: await count(itemsSql(table("c_documents"), "$1"), `%${incarnation}%`),
      vectors: await count(itemsSql(table("c_vectors"), "$1"), `%${incarnation}%`),
      triples,
    };
  } finally {
    await client.end();
  }
}
