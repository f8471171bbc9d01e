/**
 * Rows of quads and of their supports, in batches.
 *
 * Where rows are found by their keys, the keys drive the join: `OFFSET 0` keeps each lookup a lookup, also if a plan was made while the
 * table was small. Found rows are then deleted by ctid, which cannot change while the space is locked.
 */
import { settle, type Session } from "../connection.ts";
import type { QuadColumns } from "./quad-columns.ts";
import { rangeSql } from "./ranges.ts";
import type { TripleTables } from "./tables.ts";

const keys = "unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS k (s, p, o, g)";
const supportOrder = ["s", "p", "o", "g", "source", "part"] as const;

/** The supports of the quad that `k` names. */
function supportsOf({ supports }: TripleTables): string {
  return rangeSql({ table: supports, order: supportOrder, space: "$1::bigint", bound: ["k.s", "k.p", "k.o", "k.g"] });
}

/** Deletes the existing quads that meet a condition, and returns how many. */
async function deleteQuads(
  session: Session,
  tables: TripleTables,
  space: number,
  columns: QuadColumns,
  condition = "true",
): Promise<number> {
  const { triples, quads } = columns.split();
  let deleted = 0;
  for (const [table, part, graph] of [
    [tables.triples, triples, "true"],
    [tables.quads, quads, "t.g = k.g"],
  ] as const) {
    if (part.length === 0) continue;
    const [row] = await session.query<[number]>(
      `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY (
         SELECT q.ctid FROM ${keys} CROSS JOIN LATERAL (
           SELECT t.ctid, t.asserted FROM ${table} t WHERE t.space = $1::bigint AND t.s = k.s AND t.p = k.p AND t.o = k.o AND ${graph} OFFSET 0) q
         WHERE ${condition})) RETURNING 1)
       SELECT count(*) FROM gone`,
      [space, ...part.arrays()],
    );
    deleted += row?.[0] ?? 0;
  }
  return deleted;
}

export interface Gone {
  readonly quads: number;
  readonly supports: number;
  /** Quads whose supports were removed: perhaps they have none left. */
  readonly sources: readonly number[];
}

/** Quads with all their supports. */
export async function removeQuads(
  session: Session,
  tables: TripleTables,
  space: number,
  columns: QuadColumns,
): Promise<Gone> {
  if (columns.length === 0) return { quads: 0, supports: 0, sources: [] };
  const quads = await deleteQuads(session, tables, space, columns);
  if (quads === 0) return { quads: 0, supports: 0, sources: [] };
  const rows = await session.query<[number, number]>(
    `WITH gone AS (DELETE FROM ${tables.supports} WHERE ctid = ANY (ARRAY (
       SELECT u.ctid FROM ${keys} CROSS JOIN LATERAL (SELECT t.ctid ${supportsOf(tables)}) u)) RETURNING source)
     SELECT source, count(*) FROM gone GROUP BY source`,
    [space, ...columns.arrays()],
  );
  return { quads, supports: rows.reduce((sum, [, count]) => sum + count, 0), sources: rows.map(([source]) => source) };
}

/** Those neither asserted nor supported any more. */
export async function removeUnsupported(
  session: Session,
  tables: TripleTables,
  space: number,
  columns: QuadColumns,
): Promise<number> {
  return deleteQuads(
    session,
    tables,
    space,
    columns,
    `NOT q.asserted AND (SELECT 1 ${supportsOf(tables)} LIMIT 1) IS NULL`,
  );
}

export async function insertQuads(
  session: Session,
  tables: TripleTables,
  space: number,
  columns: QuadColumns,
  support: { readonly source: number; readonly part: number } | undefined,
): Promise<{ readonly quads: number; readonly supports: number }> {
  if (columns.length === 0) return { quads: 0, supports: 0 };
  const asserted = support === undefined;
  const { triples, quads } = columns.split();
  const inTriples = insertInto(session, tables.triples, ["s", "p", "o"], space, triples, asserted);
  const inQuads = insertInto(session, tables.quads, ["s", "p", "o", "g"], space, quads, asserted);
  const supports =
    support === undefined ? Promise.resolve(0) : insertSupports(session, tables, space, columns, support);
  await settle([inTriples, inQuads, supports]);
  return { quads: (await inTriples) + (await inQuads), supports: await supports };
}

/** An existing quad stays, and is asserted from now on if this write asserts it. `xmax` is 0 only for a new row. */
async function insertInto(
  session: Session,
  table: string,
  names: readonly string[],
  space: number,
  columns: QuadColumns,
  asserted: boolean,
): Promise<number> {
  if (columns.length === 0) return 0;
  const list = names.join(", ");
  const conflict = asserted ? "DO UPDATE SET asserted = true WHERE NOT q.asserted" : "DO NOTHING";
  const [row] = await session.query<[number]>(
    `WITH come AS (
       INSERT INTO ${table} AS q (space, ${list}, asserted) SELECT $1::bigint, ${names.map((name) => `k.${name}`).join(", ")}, ${asserted} FROM ${keys}
       ON CONFLICT (space, ${list}) ${conflict} RETURNING xmax = 0 AS fresh)
     SELECT count(*) FILTER (WHERE fresh) FROM come`,
    [space, ...columns.arrays()],
  );
  return row?.[0] ?? 0;
}

async function insertSupports(
  session: Session,
  tables: TripleTables,
  space: number,
  columns: QuadColumns,
  { source, part }: { source: number; part: number },
): Promise<number> {
  const [row] = await session.query<[number]>(
    `WITH come AS (
       INSERT INTO ${tables.supports} (space, s, p, o, g, source, part) SELECT $1::bigint, k.s, k.p, k.o, k.g, $6::bigint, $7::int FROM ${keys}
       ON CONFLICT DO NOTHING RETURNING 1)
     SELECT count(*) FROM come`,
    [space, ...columns.arrays(), source, part],
  );
  return row?.[0] ?? 0;
}
