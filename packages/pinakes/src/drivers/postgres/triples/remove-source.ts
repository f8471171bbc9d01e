/** Removing a source, a bounded number of its supports at a time. */
import { requireWritable } from "../../../triples/space-errors.ts";
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import { settle, type Database, type Transaction } from "../connection.ts";
import { QuadColumns } from "./quad-columns.ts";
import { removeUnsupported } from "./quad-rows.ts";
import { rangeSql } from "./ranges.ts";
import { addCounts, begin, lockSpace, type Space } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";
import { findTerms, noTerm, sourceText, sweepTerms } from "./terms.ts";

const sourceOrder = ["source", "s", "p", "o", "g", "part"] as const;

export interface RemovedStep {
  readonly removed: number;
  readonly done: boolean;
}

export async function removeSource(
  database: Database,
  tables: TripleTables,
  key: SpaceKey,
  source: string,
  limit: number,
): Promise<RemovedStep> {
  return database.transact((transaction) => attempt(transaction, tables, key, source, limit));
}

async function attempt(
  transaction: Transaction,
  tables: TripleTables,
  key: SpaceKey,
  source: string,
  limit: number,
): Promise<RemovedStep> {
  const begun = transaction.run(begin);
  const locked = lockSpace(transaction, tables, key);
  await settle([begun, locked]);
  const space = await locked;
  requireWritable(key.space, space?.status);
  const { id } = space as Space;
  const [sourceId = noTerm] = await findTerms(transaction, tables, id, [sourceText(source)]);
  if (sourceId === noTerm) return { removed: 0, done: true };

  const range = rangeSql({ table: tables.supports, order: sourceOrder, space: "$1::bigint", bound: ["$2::bigint"] });
  const rows = await transaction.query<[number, number, number, number]>(
    `DELETE FROM ${tables.supports} WHERE ctid = ANY (ARRAY (SELECT t.ctid ${range} LIMIT $3::bigint)) RETURNING s, p, o, g`,
    [id, sourceId, limit],
  );
  const quads = QuadColumns.ofRows(rows);
  const removed = await removeUnsupported(transaction, tables, id, quads);
  const swept = await sweepTerms(transaction, tables, id, removed === 0 ? [sourceId] : [...quads.ids(), sourceId]);
  const counts = { quads: -removed, supports: -rows.length, terms: -swept, made: 0 };
  await transaction.commit([addCounts(transaction, tables, id, counts, key)]);
  return { removed, done: rows.length < limit };
}
