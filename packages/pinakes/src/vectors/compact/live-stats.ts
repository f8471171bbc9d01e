/** The figures of a manifest, from its segments' entries: how many rows are live, and their sum. */
import { addSums, formatSum, parseSum, subtractSums, zeroSum, type RowSum } from "../segment/row-sum.ts";
import { liveOf, type Manifest, type SegmentEntry } from "../store/manifest.ts";

export function liveStats(segments: readonly SegmentEntry[]): Manifest["stats"] {
  return {
    live: segments.reduce((sum, entry) => sum + liveOf(entry), 0),
    bytes: segments.reduce((sum, entry) => sum + entry.bytes, 0),
    liveSum: formatSum(segments.reduce((sum, entry) => addSums(sum, liveSumOf(entry)), zeroSum)),
  };
}

function liveSumOf({ sum, deletions }: SegmentEntry): RowSum {
  return deletions === undefined ? parseSum(sum) : subtractSums(parseSum(sum), parseSum(deletions.sum));
}
