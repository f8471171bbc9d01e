/**
 * Fuses two or three rankings into one: a convex combination of scores, each normalised over the candidates. Chosen over reciprocal rank
 * fusion because it keeps how much better one chunk is than the next; `pinakes eval <folder> --compare` compares both.
 *
 * A chunk that is not among the best of a part gets 0 there. Cosine similarities are scaled between the lowest and the highest candidate;
 * BM25 starts at 0 by nature.
 *
 * The evidence: nDCG@10 on the 300 test queries of SciFact with the local model, 100 candidates (nearly the same with 200). Keywords alone
 * 0.692, vectors alone 0.646.
 *
 *   share of the vectors             0.2    0.3    0.4    0.5    0.6    0.7
 *   lowest…highest, 0…highest       0.729  0.738  0.733  0.727  0.718  0.703   this file
 *   lowest…highest, both            0.724  0.728  0.734  0.728  0.721  0.708
 *   z-scores                        0.723  0.730  0.737  0.734  0.728  0.715
 *   cosine 0…highest                0.719  0.728  0.736  0.740  0.734  0.729
 *   cosine −1…highest               0.704  0.713  0.720  0.727  0.729  0.741
 *   reciprocal ranks, constant 60          0.713  0.713  0.712  0.698  0.695
 *
 * Fusing scores beats ranks by 0.015 to 0.02 (p = 0.01 with 200 candidates). Among the scalings 300 queries show no difference (p > 0.2),
 * nor between 0.4 and 0.5; 0.4 is the middle of the plateau. A fixed lowest cosine is better here by 0.007 (p = 0.02, with its weight
 * chosen on the same queries), but depends on the model: many have all their cosines between 0.7 and 1, and these scores squeezed into that
 * range (simulated, no other model was tried) gave 0.718 at 0.5, and 0.704 with −1, while scaling is unaffected. So are z-scores, but they
 * are no shares of 1, which `min_score` and people rely on.
 */
export interface Candidate {
  readonly vector?: number;
  readonly keyword?: number;
  /** 0…1 by nature, and never rescaled: its distribution is unknown. */
  readonly graph?: number;
}

export interface Fused {
  readonly score: number;
  /** Contribution of each part, 0…1 before its weight. */
  readonly parts: { readonly vector?: number; readonly keyword?: number; readonly graph?: number };
}

export type Fusion = "convex" | "rrf";

/** Share of the vectors; keywords have the rest. */
export const vectorWeight = 0.4;
/** Maximum share of a chunk's missing score that the graph can add. A chunk without graph evidence keeps its score. */
export const graphWeight = 0.5;
const rrfConstant = 60;

export function fuse(
  candidates: readonly Candidate[],
  fusion: Fusion = "convex",
  weight = vectorWeight,
  graph = graphWeight,
): readonly Fused[] {
  return fusion === "convex"
    ? convex(candidates, weight).map((fused, i) => lifted(fused, candidates[i]?.graph, graph))
    : reciprocalRanks(candidates);
}

function lifted({ score, parts }: Fused, graph: number | undefined, weight: number): Fused {
  return graph === undefined
    ? { score, parts }
    : { score: score + (1 - score) * weight * graph, parts: { ...parts, graph } };
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
  const graph = ranksOf(candidates.map((candidate) => candidate.graph));
  const share = (rank: number | undefined) => (rank === undefined ? 0 : 1 / (rrfConstant + rank));
  return candidates.map((_, i) => {
    const v = share(vector[i]);
    const k = share(keyword[i]);
    const g = share(graph[i]);
    const parts = {
      ...(vector[i] === undefined ? {} : { vector: v }),
      ...(keyword[i] === undefined ? {} : { keyword: k }),
      ...(graph[i] === undefined ? {} : { graph: g }),
    };
    return { score: v + k + g, parts };
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
