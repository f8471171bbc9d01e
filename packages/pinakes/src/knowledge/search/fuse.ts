/**
 * One ranking out of two: a convex mix of scores, each normalised over the candidates. Chosen over reciprocal ranks because it keeps
 * how much better one passage is than the next; `npm run pinakes -- eval` compares both.
 *
 * A passage that is not among the best of a part gets 0 there. Cosine similarities are spread between the lowest and the highest
 * candidate; BM25 begins at 0 by nature.
 */
export interface Candidate {
  readonly vector?: number;
  readonly keyword?: number;
}

export interface Fused {
  readonly score: number;
  /** What each part added, 0…1 before its weight. */
  readonly parts: { readonly vector?: number; readonly keyword?: number };
}

export type Fusion = "convex" | "rrf";

/** The share of the vectors; keywords have the rest. */
export const vectorWeight = 0.5;
const rrfConstant = 60;

export function fuse(candidates: readonly Candidate[], fusion: Fusion = "convex", weight = vectorWeight): readonly Fused[] {
  return fusion === "convex" ? convex(candidates, weight) : reciprocalRanks(candidates);
}

function convex(candidates: readonly Candidate[], weight: number): readonly Fused[] {
  const vectors = candidates.flatMap(({ vector }) => (vector === undefined ? [] : [vector]));
  const keywords = candidates.flatMap(({ keyword }) => (keyword === undefined ? [] : [keyword]));
  const vectorOf = scale(lowest(vectors), highest(vectors));
  const keywordOf = scale(0, highest(keywords));
  return candidates.map(({ vector, keyword }) => {
    const v = vector === undefined ? 0 : vectorOf(vector);
    const k = keyword === undefined ? 0 : keywordOf(keyword);
    return {
      score: weight * v + (1 - weight) * k,
      parts: { ...(vector === undefined ? {} : { vector: v }), ...(keyword === undefined ? {} : { keyword: k }) },
    };
  });
}

function reciprocalRanks(candidates: readonly Candidate[]): readonly Fused[] {
  const vector = ranksOf(candidates.map((candidate) => candidate.vector));
  const keyword = ranksOf(candidates.map((candidate) => candidate.keyword));
  const share = (rank: number | undefined) => (rank === undefined ? 0 : 1 / (rrfConstant + rank));
  return candidates.map((_, i) => {
    const v = share(vector[i]);
    const k = share(keyword[i]);
    return { score: v + k, parts: { ...(vector[i] === undefined ? {} : { vector: v }), ...(keyword[i] === undefined ? {} : { keyword: k }) } };
  });
}

function ranksOf(scores: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const order = scores
    .map((score, index) => ({ score, index }))
    .filter((entry): entry is { score: number; index: number } => entry.score !== undefined)
    .toSorted((a, b) => b.score - a.score || a.index - b.index);
  const ranks: (number | undefined)[] = Array.from({ length: scores.length });
  for (const [i, { index }] of order.entries()) ranks[index] = i + 1;
  return ranks;
}

function scale(low: number, high: number): (score: number) => number {
  return high > low ? (score) => Math.max(0, (score - low) / (high - low)) : () => 1;
}

function lowest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function highest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}
