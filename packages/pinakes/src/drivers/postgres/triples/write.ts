/**
 * A write: one transaction that locks the space's row, so that interning, counting and removing terms is serialised.
 *
 * Removals come first. A term that they leave unused is removed only after the inserts, which may use it again.
 */
import type { QuadChanges } from "../../../ports/triple-store.ts";
import { requireWritable } from "../../../triples/space-errors.ts";
import type { PreparedChange, SpaceKey } from "../../../triples/triple-engine.ts";
import { settle, type Database, type Transaction } from "../connection.ts";
import { QuadColumns } from "./quad-columns.ts";
import { insertQuads, removeQuads } from "./quad-rows.ts";
import { addCounts, begin, lockSpace, type Space } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";
import { internTerms, sourceText, sweepTerms } from "./terms.ts";

export async function writeQuads(
  database: Database,
  tables: TripleTables,
  key: SpaceKey,
  change: PreparedChange,
): Promise<QuadChanges> {
  return database.transact((transaction) => attempt(transaction, tables, key, change));
}

async function attempt(
  transaction: Transaction,
  tables: TripleTables,
  key: SpaceKey,
  change: PreparedChange,
): Promise<QuadChanges> {
  const { texts, make } = neededTexts(change);
  const begun = transaction.run(begin);
  const locked = lockSpace(transaction, tables, key);
  // After the lock on the same connection: it sees what was committed before the lock was granted.
  const interned = internTerms(transaction, tables, key, texts, make);
  await settle([begun, locked, interned]);
  const space = await locked;
  requireWritable(key.space, space?.status);
  const { id } = space as Space;
  const { ids, terms, made } = await interned;

  const numbers = [0, ...ids];
  const removals = QuadColumns.of(change.remove, numbers);
  const gone = await removeQuads(transaction, tables, id, removals);
  const support = change.source && { source: ids[ids.length - 1] as number, part: change.source.part };
  const come = await insertQuads(transaction, tables, id, QuadColumns.of(change.insert, numbers), support);
  const swept =
    gone.quads === 0 ? 0 : await sweepTerms(transaction, tables, id, new Set([...removals.ids(), ...gone.sources]));

  const counts = {
    quads: come.quads - gone.quads,
    supports: come.supports - gone.supports,
    terms: terms - swept,
    made,
  };
  await transaction.commit([addCounts(transaction, tables, id, counts, key)]);
  return { inserted: come.quads, removed: gone.quads };
}

/** Every term but the default graph, and the source after them; terms that are only removed are not created. */
function neededTexts({ terms, insert, source }: PreparedChange): { texts: string[]; make: boolean[] } {
  const texts = terms.slice(1);
  const make = texts.map(() => false);
  for (const place of insert) if (place > 0) make[place - 1] = true;
  if (source === undefined) return { texts, make };
  return { texts: [...texts, sourceText(source.source)], make: [...make, insert.length > 0] };
}
