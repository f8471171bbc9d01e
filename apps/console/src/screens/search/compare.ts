/** What became of each chunk between two settings. */
export interface RankChange {
  /** Places it rose (more than 0) or fell. Absent where the other list does not have it. */
  readonly by?: number;
  readonly otherRank?: number;
}

interface Ranked {
  readonly chunk_id: string;
}

/** For each chunk of `list` where it stands in `other`. Ranks begin at 1. */
export function rankChanges(list: readonly Ranked[], other: readonly Ranked[]): ReadonlyMap<string, RankChange> {
  const otherRanks = new Map(other.map(({ chunk_id }, index) => [chunk_id, index + 1]));
  return new Map(
    list.map(({ chunk_id }, index) => {
      const otherRank = otherRanks.get(chunk_id);
      return [chunk_id, otherRank === undefined ? {} : { by: otherRank - (index + 1), otherRank }];
    }),
  );
}

/** How much of the two lists is the same. */
export function inCommon(list: readonly Ranked[], other: readonly Ranked[]): number {
  const ids = new Set(other.map(({ chunk_id }) => chunk_id));
  return list.filter(({ chunk_id }) => ids.has(chunk_id)).length;
}
