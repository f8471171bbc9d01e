/**
 * Merges the candidates of many collections as if they were one: only the best of each part (vectors of a model, keywords) count, and of
 * their union as many as one collection would give. So the answer does not depend on how chunks are distributed over collections, and
 * memory stays bounded.
 */
import type { Found } from "./rank-hits.ts";

/** The constant of reciprocal rank fusion within a single collection. */
const rankOffset = 60;

export interface Gathering {
  /** Candidates that one collection would give. */
  readonly limit: number;
  /** Per part, before they are merged. */
  readonly partMax: number;
}

/** What a single collection reads for an answer of this size. */
export function gatheringOf(limit: number, partMax: number): Gathering {
  return { limit, partMax: Math.min(partMax, Math.max(50, limit * 4)) };
}

/** Those that can still be among the best when more arrive. Hits from the graph stay. */
export function pruned(found: readonly Found[], { partMax }: Gathering): readonly Found[] {
  if (found.length <= partMax) return found;
  const ranks = ranksOf(found);
  return found.filter(
    (_, i) => found[i]?.graph !== undefined || (ranks[i] as readonly number[]).some((rank) => rank <= partMax),
  );
}

/** The candidates of the final ranking. */
export function gathered(found: readonly Found[], gathering: Gathering): readonly Found[] {
  const kept = pruned(found, gathering);
  if (kept.length <= gathering.limit) return kept;
  const ranks = ranksOf(kept);
  const ranked = kept
    .map((candidate, i) => ({
      candidate,
      score: (ranks[i] as readonly number[]).reduce((sum, rank) => sum + 1 / (rankOffset + rank), 0),
    }))
    .toSorted((a, b) => b.score - a.score || (a.candidate.hit.id < b.candidate.hit.id ? -1 : 1));
  const best = new Set(ranked.slice(0, gathering.limit).map(({ candidate }) => candidate));
  return kept.filter((candidate) => candidate.graph !== undefined || best.has(candidate));
}

/**
 * Rank of each candidate, from 1, in each part that found it. Vectors of different models cannot be compared, so each model has its own
 * ranks.
 */
function ranksOf(found: readonly Found[]): readonly (readonly number[])[] {
  const ranks = found.map((): number[] => []);
  for (const model of new Set(found.map((candidate) => candidate.model))) {
    addRanks(ranks, found, (candidate) => (candidate.model === model ? candidate.hit.scores.vector : undefined));
  }
  addRanks(ranks, found, ({ hit }) => hit.scores.keyword);
  return ranks;
}

function addRanks(
  ranks: readonly number[][],
  found: readonly Found[],
  scoreOf: (candidate: Found) => number | undefined,
): void {
  const order = found
    .flatMap((candidate, index) => {
      const score = scoreOf(candidate);
      return score === undefined ? [] : [{ score, index, id: candidate.hit.id }];
    })
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  for (const [i, { index }] of order.entries()) ranks[index]?.push(i + 1);
}
