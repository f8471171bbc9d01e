/**
 * One state of a collection, ready to be read: the segments of one manifest and the deltas after it, each with the rows that do not count
 * (deleted, tombstones, or overwritten by a later delta). Immutable; a later state shares what did not change.
 */
import { patchMetadata } from "../log/rows.ts";
import { Bitmap } from "../segment/bitmap.ts";
import { idHash } from "../segment/id-hash.ts";
import { opCodes, type Row } from "../row.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import type { Manifest } from "../store/manifest.ts";
import { openSegments } from "../store/open-segments.ts";
import type { Delta } from "../store/records.ts";
import { rowsInMemory } from "../store/rows-in-memory.ts";

export interface ViewSource {
  readonly rows: SegmentRows;
  /** Undefined if every row counts. */
  readonly dead: Bitmap | undefined;
}

export interface View {
  readonly manifest: Manifest;
  /** The last write that it shows. */
  readonly seq: number;
  /** Oldest first. Of all rows with the same id at most one counts. */
  readonly sources: readonly ViewSource[];
}

export async function openView(site: CollectionSite, manifest: Manifest): Promise<View> {
  const segments = await openSegments(site, manifest);
  const sources = segments.map(({ rows, deleted, entry }) => ({
    rows,
    dead: entry.puts === rows.rows ? deleted : withoutRows(rows, deleted),
  }));
  return { manifest, seq: manifest.appliedSeq, sources };
}

export async function openDeltas(site: CollectionSite, deltas: readonly Delta[]): Promise<SegmentRows[]> {
  return Promise.all(deltas.map(async (delta) => new SegmentRows(await site.deps.files.open(site, delta), delta.seq)));
}

/** The view with the next deltas of the log, which follow its seq without a gap. */
export async function extendView(site: CollectionSite, view: View, opened: readonly SegmentRows[]): Promise<View> {
  const sources: { rows: SegmentRows; dead: Bitmap | undefined; shared: boolean }[] = view.sources.map((source) => ({
    ...source,
    shared: true,
  }));
  const mask = (at: RowAddress): void => {
    const source = sources[at.source] as (typeof sources)[number];
    // Other views use the bitmap too: copy it before its first change here.
    if (source.dead === undefined || source.shared) source.dead = source.dead?.copy() ?? new Bitmap(source.rows.rows);
    source.shared = false;
    source.dead.add(at.row);
  };
  for (const rows of opened) {
    const patched: Row[] = [];
    for (let row = 0; row < rows.rows; row += 1) {
      const place = findLive(sources, rows.idBytes(row));
      if (rows.op[row] === opCodes.patch) {
        if (place === undefined) continue;
        const base = (sources[place.source] as (typeof sources)[number]).rows.put(place.row);
        patched.push({ ...base, metadata: patchMetadata(base.metadata, rows.metadata(row)) });
      }
      if (place !== undefined) mask(place);
    }
    sources.push({ rows, dead: withoutRows(rows, undefined), shared: false });
    if (patched.length > 0)
      sources.push({
        rows: await rowsInMemory(site, view.manifest.settings, patched, rows.seq(0)),
        dead: undefined,
        shared: false,
      });
  }
  // A file without live rows is left out: of two deltas with the same bytes, which are one file to the search, only the later stays.
  const live = sources.filter(({ rows, dead }) => (dead?.count() ?? 0) < rows.rows);
  return {
    manifest: view.manifest,
    seq: view.seq + opened.length,
    sources: live.map(({ rows, dead }) => ({ rows, dead })),
  };
}

interface RowAddress {
  readonly source: number;
  readonly row: number;
}

/** Newest first: a fresh row is most likely to be rewritten soon. */
export function findLive(sources: readonly ViewSource[], id: Uint8Array): RowAddress | undefined {
  const hash = idHash(id);
  for (let source = sources.length - 1; source >= 0; source -= 1) {
    const { rows, dead } = sources[source] as ViewSource;
    const row = rows.find(id, hash);
    if (row >= 0 && !(dead?.has(row) ?? false)) return { source, row };
  }
  return undefined;
}

export function liveRows(view: View): number {
  return view.sources.reduce((sum, { rows, dead }) => sum + rows.rows - (dead?.count() ?? 0), 0);
}

/** Rows that are no puts never count. */
function withoutRows(rows: SegmentRows, deleted: Bitmap | undefined): Bitmap | undefined {
  let dead = deleted;
  for (let row = 0; row < rows.rows; row += 1) {
    if (rows.isPut(row)) continue;
    if (dead === deleted) dead = deleted?.copy() ?? new Bitmap(rows.rows);
    dead?.add(row);
  }
  return dead;
}
