/** The end of a space, a bounded number of rows at a time. Its row stays, and rejects its name for ever. */
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import type { Database, Session, Transaction } from "../connection.ts";
import { rangeSql, type Column } from "./ranges.ts";
import { addCounts, begin, lockSpace, settleStatus, type Space } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";

export interface PurgeStep {
  readonly deleted: number;
  readonly done: boolean;
}

export async function purgeSpace(
  database: Database,
  tables: TripleTables,
  key: SpaceKey,
  limit: number,
): Promise<PurgeStep> {
  // In its own transaction, before anything is removed: from here on the space cannot be read or written, even if this process dies now.
  await settleStatus(database, tables, key, "purged", ["open", "fenced"]);
  return database.transact((transaction) => attempt(transaction, tables, key, limit));
}

async function attempt(
  transaction: Transaction,
  tables: TripleTables,
  key: SpaceKey,
  limit: number,
): Promise<PurgeStep> {
  await transaction.run(begin);
  const { id } = (await lockSpace(transaction, tables, key)) as Space;
  let left = limit;
  const take = async (table: string, order: readonly Column[]): Promise<number> => {
    if (left === 0) return 0;
    const [row] = await transaction.query<[number]>(
      `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT t.ctid ${rangeSql({ table, order, space: "$1::bigint", bound: [] })} LIMIT $2::bigint)) RETURNING 1)
       SELECT count(*) FROM gone`,
      [id, left],
    );
    left -= row?.[0] ?? 0;
    return row?.[0] ?? 0;
  };
  const supports = await take(tables.supports, ["s", "p", "o", "g", "source", "part"]);
  const triples = await take(tables.triples, ["s", "p", "o"]);
  const quads = await take(tables.quads, ["s", "p", "o", "g"]);
  const { all, terms } = await takeTerms(transaction, tables, id, left);
  await transaction.commit([
    addCounts(transaction, tables, id, { quads: -triples - quads, supports: -supports, terms: -terms, made: 0 }, key),
  ]);
  return { deleted: supports + triples + quads + terms, done: all < left };
}

/** With the names of sources, which do not count as terms. */
async function takeTerms(
  session: Session,
  tables: TripleTables,
  space: number,
  limit: number,
): Promise<{ all: number; terms: number }> {
  if (limit === 0) return { all: 0, terms: 0 };
  const [row] = await session.query<[number, number]>(
    `WITH gone AS (DELETE FROM ${tables.terms} WHERE ctid = ANY (ARRAY (
       SELECT ctid FROM ${tables.terms} WHERE space >= $1::bigint AND space <= $1::bigint ORDER BY space, id LIMIT $2::bigint)) RETURNING text)
     SELECT count(*), count(*) FILTER (WHERE text NOT LIKE '!%') FROM gone`,
    [space, limit],
  );
  const [all, terms] = row ?? [0, 0];
  return { all, terms };
}
