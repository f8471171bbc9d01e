/** Which segments to merge next (RFC 0001, "Merge"): size tiers of four, so that a row is rewritten about log4(n) times. */
import { vectorLimits } from "../limits.ts";
import { liveOf, type SegmentEntry } from "../store/manifest.ts";

const fanout = 4;
const levelRows = 1_000;
const deadShareMax = 0.2;

/** Positions in `segments`; empty if there is nothing to do. */
export function chooseMerge(segments: readonly SegmentEntry[], all = false): number[] {
  const sizes = segments.map((entry, index) => ({
    index,
    live: liveOf(entry),
    bytes: entry.bytes * (liveOf(entry) / Math.max(1, entry.rows)),
    entry,
  }));
  return mostDead(sizes) ?? fullLevel(sizes) ?? tooMany(sizes) ?? (all ? smallest(sizes) : undefined) ?? [];
}

/** The first segment with rows that do not count any more; alone. Tombstones stay while a dead delta needs them. */
export function chooseDead(segments: readonly SegmentEntry[], tombstonesStay: boolean): number[] {
  const index = segments.findIndex((entry) =>
    tombstonesStay ? (entry.deletions?.count ?? 0) > 0 : entry.rows > liveOf(entry),
  );
  return index === -1 ? [] : [index];
}

interface Sized {
  readonly index: number;
  readonly live: number;
  readonly bytes: number;
  readonly entry: SegmentEntry;
}

/** Rewritten alone: the dead rows are dropped, and its level may change. */
function mostDead(sizes: readonly Sized[]): number[] | undefined {
  const share = ({ entry, live }: Sized): number => 1 - live / Math.max(1, entry.rows);
  // Small ones are merged soon anyway; tombstones that must stay would make a small segment "dead" for ever.
  const worst = sizes.filter(
    (size) =>
      size.entry.puts > size.live && share(size) > deadShareMax && (size.live === 0 || size.entry.rows > levelRows),
  );
  if (worst.length === 0) return undefined;
  return [worst.reduce((a, b) => (share(b) > share(a) ? b : a)).index];
}

function fullLevel(sizes: readonly Sized[]): number[] | undefined {
  const levels = Map.groupBy(sizes, ({ live }) => levelOf(live));
  for (const level of [...levels.keys()].sort((a, b) => a - b)) {
    const group = (levels.get(level) ?? []).toSorted((a, b) => a.live - b.live);
    if (group.length < fanout) continue;
    const fitting = withinCaps(group);
    // Two of four that fit are still worth it; one alone would only copy itself.
    if (fitting.length >= 2) return fitting;
  }
  return undefined;
}

function tooMany(sizes: readonly Sized[]): number[] | undefined {
  if (sizes.length <= vectorLimits.segmentsMax) return undefined;
  const fitting = withinCaps(
    sizes.toSorted((a, b) => a.live - b.live).slice(0, sizes.length - vectorLimits.segmentsMax + fanout),
  );
  return fitting.length >= 2 ? fitting : undefined;
}

function smallest(sizes: readonly Sized[]): number[] | undefined {
  const fitting = withinCaps(sizes.toSorted((a, b) => a.live - b.live));
  return fitting.length >= 2 ? fitting : undefined;
}

function withinCaps(group: readonly Sized[]): number[] {
  const chosen: number[] = [];
  let rows = 0;
  let bytes = 0;
  for (const size of group) {
    if (rows + size.live > vectorLimits.segmentRowsMax || bytes + size.bytes > vectorLimits.segmentBytesMax) break;
    rows += size.live;
    bytes += size.bytes;
    chosen.push(size.index);
  }
  return chosen;
}

function levelOf(live: number): number {
  return Math.max(0, Math.floor(Math.log(Math.max(1, live) / levelRows) / Math.log(fanout)));
}
