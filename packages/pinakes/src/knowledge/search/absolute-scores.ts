/** The scores that callers see, for candidates in ranking order: see calibration.ts. The order is unchanged. */
import type { EmbeddingModel } from "../../ports/embedder.ts";
import { calibrated, floorOf, type Evidence } from "./calibration.ts";
import type { Found } from "./rank-hits.ts";
import type { CheckedSearch } from "./search-input.ts";

/** What makes the scores of one query comparable with those of others. */
export interface Scale {
  /** Weight of all its words, by their rarity in what was searched. */
  readonly questionWeight: number;
  /** Number of rows searched; Infinity if not counted, in a search by vectors alone. */
  readonly rows: number;
  readonly modelOf: (id: string) => Pick<EmbeddingModel, "id" | "metric">;
}

type Scored<Candidate> = Candidate & { readonly score: number; readonly evidence: Evidence };

export function absoluteScores<Candidate extends Found>(
  ordered: readonly Candidate[],
  query: CheckedSearch,
  scale: Scale,
): readonly Scored<Candidate>[] {
  const lowest = lowestVectors(ordered);
  const own = ordered.map((candidate) => {
    const mode = modeOf(candidate, query);
    const evidence = evidenceOf(candidate, mode, scale, lowest.get(candidate.opened.collection.incarnation) ?? 0);
    const score =
      mode === "graph"
        ? (candidate.graph ?? 0)
        : lifted(calibrated(evidence, mode, scale.modelOf(candidate.model)), candidate.graph, query);
    return { ...candidate, score, evidence };
  });
  // Scores never increase down the ranking, which combines more signals than one curve.
  let least = 0;
  return own
    .toReversed()
    .map((candidate) => {
      least = Math.max(least, candidate.score);
      return { ...candidate, score: least };
    })
    .toReversed();
}

/** With `min_score` the hits that reach it; else all, or none if even the best is too weak to be an answer. */
export function strongEnough<Candidate extends Scored<Found>>(
  entries: readonly Candidate[],
  query: CheckedSearch,
  { modelOf, rows }: Scale,
): readonly Candidate[] {
  const { minScore } = query;
  if (minScore !== undefined) return entries.filter(({ score }) => score >= minScore);
  // Hits from the graph were named by the query.
  const answers = entries.some(
    (entry) => entry.graph !== undefined || entry.score >= floorOf(modeOf(entry, query), modelOf(entry.model), rows),
  );
  return answers ? entries : [];
}

/** If vectors could not be compared, a low cosine is no evidence: words alone decide, as in a keyword search. */
function modeOf({ wordsOnly = false }: Found, { mode }: CheckedSearch): CheckedSearch["mode"] {
  return wordsOnly ? "keyword" : mode;
}

/** A candidate not among the best by vector is at most as near as the last of those. */
function evidenceOf(
  { hit: { scores } }: Found,
  mode: CheckedSearch["mode"],
  { questionWeight }: Scale,
  lowest: number,
): Evidence {
  return {
    ...(mode === "hybrid" || mode === "vector" ? { vector: scores.vector ?? lowest } : {}),
    ...(mode === "hybrid" || mode === "keyword"
      ? { keyword: questionWeight > 0 ? (scores.keyword ?? 0) / questionWeight : 0 }
      : {}),
  };
}

function lifted(score: number, graph: number | undefined, { graph: options }: CheckedSearch): number {
  return graph === undefined ? score : score + (1 - score) * (options?.weight ?? 0) * graph;
}

function lowestVectors(found: readonly Found[]): ReadonlyMap<string, number> {
  const lowest = new Map<string, number>();
  for (const { opened, hit } of found) {
    const { vector } = hit.scores;
    const { incarnation } = opened.collection;
    if (vector !== undefined) lowest.set(incarnation, Math.min(lowest.get(incarnation) ?? vector, vector));
  }
  return lowest;
}
