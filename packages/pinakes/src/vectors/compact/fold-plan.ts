/**
 * What a batch of deltas does to a collection (RFC 0001, "Fold"): which of their rows go into the new segment, and which rows of older
 * segments they delete. Pure: from opened files to a plan.
 */
import { idHash } from "../segment/id-hash.ts";
import { opCodes, type Row } from "../row.ts";
import type { SegmentRows } from "../segment/segment-rows.ts";
import type { OpenSegment } from "../store/open-segments.ts";
import { patchMetadata } from "../log/rows.ts";

export interface OpenDelta {
  readonly seq: number;
  readonly rows: SegmentRows;
}

export interface FoldPlan {
  /** Rows of the deltas as they are. */
  readonly kept: readonly { readonly delta: number; readonly row: number }[];
  /** Rows created by a patch, by the seq of the patch. */
  readonly patched: ReadonlyMap<number, readonly Row[]>;
  /** For each older segment, in its order: rows that are deleted now. */
  readonly removed: readonly (readonly number[])[];
}

type Winner =
  | { readonly seq: number; readonly delta: number; readonly row: number }
  | { readonly seq: number; readonly patched: Row };

/** `deltas` ascending by seq; a dead delta that is retried has its old one. */
export function planFold(
  deltas: readonly OpenDelta[],
  segments: readonly OpenSegment[],
  keepsTombstone: (seq: number) => boolean,
): FoldPlan {
  const winners = new Map<string, Winner>();
  const newestStored = segments.reduce((newest, { entry }) => Math.max(newest, entry.maxSeq), 0);
  for (const [index, delta] of deltas.entries()) {
    for (let row = 0; row < delta.rows.rows; row += 1) {
      const id = delta.rows.id(row);
      // Retried after a newer write: it has lost, also as the base of a later patch.
      if (delta.seq < newestStored && (findStored(segments, id)?.seq ?? 0) > delta.seq) continue;
      if (delta.rows.op[row] !== opCodes.patch) {
        winners.set(id, { seq: delta.seq, delta: index, row });
        continue;
      }
      const base = winners.has(id) ? newestPut(deltas, winners.get(id) as Winner) : storedPut(segments, id, delta.seq);
      if (base === undefined) continue; // There is nothing to patch.
      winners.set(id, {
        seq: delta.seq,
        patched: { ...base, metadata: patchMetadata(base.metadata ?? {}, delta.rows.metadata(row)) },
      });
    }
  }
  return settle(deltas, segments, winners, keepsTombstone);
}

function settle(
  deltas: readonly OpenDelta[],
  segments: readonly OpenSegment[],
  winners: ReadonlyMap<string, Winner>,
  keepsTombstone: (seq: number) => boolean,
): FoldPlan {
  const kept: { delta: number; row: number }[] = [];
  const patched = new Map<number, Row[]>();
  const removed = segments.map((): number[] => []);
  for (const [id, winner] of winners) {
    const found = findStored(segments, id);
    if (found !== undefined && found.seq > winner.seq) continue; // Retried after a newer write.
    if (found !== undefined) (removed[found.segment] as number[]).push(found.row);
    if ("patched" in winner) {
      const rows = patched.get(winner.seq) ?? [];
      patched.set(winner.seq, rows);
      rows.push(winner.patched);
    } else if ((deltas[winner.delta] as OpenDelta).rows.isPut(winner.row) || keepsTombstone(winner.seq))
      kept.push(winner);
  }
  return { kept: kept.map(({ delta, row }) => ({ delta, row })), patched, removed };
}

function newestPut(deltas: readonly OpenDelta[], winner: Winner): Row | undefined {
  if ("patched" in winner) return winner.patched;
  const { rows } = deltas[winner.delta] as OpenDelta;
  return rows.isPut(winner.row) ? rows.put(winner.row) : undefined;
}

/** Not one that is newer than the patch: the patch has lost already. */
function storedPut(segments: readonly OpenSegment[], id: string, before: number): Row | undefined {
  const found = findStored(segments, id);
  if (found === undefined || found.seq > before) return undefined;
  const { rows } = segments[found.segment] as OpenSegment;
  return rows.isPut(found.row) ? rows.put(found.row) : undefined;
}

/** The row or tombstone that counts for this id; there is at most one. */
function findStored(
  segments: readonly OpenSegment[],
  id: string,
): { segment: number; row: number; seq: number } | undefined {
  const utf8 = Buffer.from(id, "utf8");
  const hash = idHash(utf8);
  for (const [index, { rows, deleted }] of segments.entries()) {
    const row = rows.find(utf8, hash);
    if (row >= 0 && !(deleted?.has(row) ?? false)) return { segment: index, row, seq: rows.seq(row) };
  }
  return undefined;
}
