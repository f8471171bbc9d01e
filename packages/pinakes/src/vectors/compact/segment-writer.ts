/** New segments and deletions: built, put, read back from the store and verified, before anything refers to them. */
import { PinakesError } from "../../domain/errors.ts";
import { Bitmap } from "../segment/bitmap.ts";
import { decodeDeletions, encodeDeletions } from "../segment/deletions-file.ts";
import type { MergeSource, Picks } from "../build/merge-segments.ts";
import { RowSummer, formatSum } from "../segment/row-sum.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import type { SegmentEntry } from "../store/manifest.ts";
import type { OpenSegment } from "../store/open-segments.ts";

export interface Output {
  readonly entry: SegmentEntry;
  readonly rows: SegmentRows;
}

/** Undefined if there are no rows to write. */
export async function writeSegment(
  site: CollectionSite,
  settings: CollectionSettings,
  sources: readonly MergeSource[],
  picks: Picks,
): Promise<Output | undefined> {
  if (picks.source.length === 0) return undefined;
  const file = await site.deps.builder.merge(site.collection, settings, sources, picks);
  const ref = {
    key: site.newKey("segments", "seg"),
    sha256: file.sha256,
    bytes: file.bytes.byteLength,
    headBytes: file.headBytes,
  };
  await site.deps.objects.put(site.scope, ref.key, file.bytes);
  // The name is new to the cache: this verifies what the store has, not what was sent.
  const rows = new SegmentRows(await site.deps.files.open(site, ref));
  if (rows.rows !== picks.source.length)
    throw new PinakesError("INTERNAL", `A merge of ${picks.source.length} rows wrote ${rows.rows}.`);
  let puts = 0;
  let minSeq = Number.MAX_SAFE_INTEGER;
  let maxSeq = 0;
  for (let row = 0; row < rows.rows; row += 1) {
    if (rows.isPut(row)) puts += 1;
    minSeq = Math.min(minSeq, rows.seq(row));
    maxSeq = Math.max(maxSeq, rows.seq(row));
  }
  return { rows, entry: { ...ref, rows: rows.rows, puts, minSeq, maxSeq, sum: formatSum(rows.sum()) } };
}

/** Entries of the older segments with their new deletions. One object has all bitmaps that changed. */
export async function writeDeletions(
  site: CollectionSite,
  segments: readonly OpenSegment[],
  removed: readonly (readonly number[])[],
): Promise<SegmentEntry[]> {
  const changed = segments.flatMap((segment, index) => {
    const rows = removed[index] ?? [];
    if (rows.length === 0) return [];
    const deleted = segment.deleted?.copy() ?? new Bitmap(segment.rows.rows);
    for (const row of rows) deleted.add(row);
    return [{ index, segment, deleted }];
  });
  const entries = segments.map(({ entry }) => entry);
  if (changed.length === 0) return entries;
  const key = site.newKey("deletions", "del");
  const { bytes, pieces } = encodeDeletions(changed.map(({ deleted }) => deleted));
  await site.deps.objects.put(site.scope, key, bytes);
  const stored = await site.getObject(key);
  for (const [i, { index, segment, deleted }] of changed.entries()) {
    const piece = pieces[i] as (typeof pieces)[number];
    decodeDeletions(stored, { key, ...piece }, segment.rows.rows); // What the store has now, not what was sent.
    entries[index] = { ...segment.entry, deletions: { key, ...piece, ...deletedSum(segment, deleted) } };
  }
  return entries;
}

/** Tombstones may be deleted, too; only rows that were live are counted and summed. */
function deletedSum({ rows }: OpenSegment, deleted: Bitmap): { count: number; sum: string } {
  const summer = new RowSummer();
  let count = 0;
  for (const row of deleted) {
    if (!rows.isPut(row)) continue;
    count += 1;
    summer.add(rows.hashes, row, rows.seq(row));
  }
  return { count, sum: formatSum(summer.sum()) };
}
