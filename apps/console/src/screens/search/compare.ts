/** How the rank of each chunk changed between two settings. */
export interface RankChange {
  /** Rank change, positive is up. Absent if the other list does not have it. */
  readonly by?: number;
  readonly otherRank?: number;
}

interface Ranked {
  readonly chunk_id: string;
}

/** For each chunk of `list`, its rank in `other`, starting at 1. */
export function rankChanges(list: readonly Ranked[], other: readonly Ranked[]): ReadonlyMap<string, RankChange> {
  const otherRanks = new Map(other.map(({ chunk_id }, index) => [chunk_id, index + 1]));
  return new Map(
    list.map(({ chunk_id }, index) => {
      const otherRank = otherRanks.get(chunk_id);
      return [chunk_id, otherRank === undefined ? {} : { by: otherRank - (index + 1), otherRank }];
    }),
  );
}

/** Overlap of the two lists. */
export function inCommon(list: readonly Ranked[], other: readonly Ranked[]): number {
  const ids = new Set(other.map(({ chunk_id }) => chunk_id));
  return list.filter(({ chunk_id }) => ids.has(chunk_id)).length;
}
