/**
 * Quality of a ranking against judgements of which documents are relevant and how much (1, 2, …; 0 or less: not relevant).
 *
 * As in trec_eval and BEIR: the gain of a document is its grade, divided by log2(rank + 1). A duplicate counts at its first rank; its
 * second rank is lost. Ties are not reordered.
 */
import { invalid } from "../domain/errors.ts";

export type Judgements = ReadonlyMap<string, number>;

export interface JudgedRanking {
  readonly ranked: readonly string[];
  readonly relevant: Judgements;
}

export interface Quality {
  /** Rankings with at least one relevant document; the means are over these. */
  readonly queries: number;
  readonly ndcg: number;
  readonly recall: number;
  readonly reciprocalRank: number;
}

/** Normalised discounted cumulative gain of the first k: 1 for an ideal order, 0 if nothing relevant is found. */
export function ndcg(ranked: readonly string[], relevant: Judgements, k: number): number {
  const ideal = [...relevant.values()].filter((grade) => grade > 0).sort((a, b) => b - a);
  const best = gain(ideal.slice(0, checked(k)));
  return best === 0 ? 0 : gain(grades(ranked, relevant, k)) / best;
}

/** The share of the relevant documents among the first k. */
export function recall(ranked: readonly string[], relevant: Judgements, k: number): number {
  const all = relevantCount(relevant);
  return all === 0 ? 0 : grades(ranked, relevant, k).filter((grade) => grade > 0).length / all;
}

/** Reciprocal rank of the first relevant document among the first k; 0 if there is none. */
export function reciprocalRank(ranked: readonly string[], relevant: Judgements, k: number): number {
  const at = grades(ranked, relevant, k).findIndex((grade) => grade > 0);
  return at < 0 ? 0 : 1 / (at + 1);
}

/** The means over many queries. Queries without a relevant document say nothing about the ranking and are omitted. */
export function meanQuality(rankings: readonly JudgedRanking[], k: number): Quality {
  const judged = rankings.filter(({ relevant }) => relevantCount(relevant) > 0);
  const mean = (metric: typeof ndcg): number =>
    judged.length === 0
      ? 0
      : judged.reduce((sum, { ranked, relevant }) => sum + metric(ranked, relevant, k), 0) / judged.length;
  return { queries: judged.length, ndcg: mean(ndcg), recall: mean(recall), reciprocalRank: mean(reciprocalRank) };
}

function grades(ranked: readonly string[], relevant: Judgements, k: number): number[] {
  const seen = new Set<string>();
  return ranked.slice(0, checked(k)).map((id) => {
    if (seen.has(id)) return 0;
    seen.add(id);
    return Math.max(0, relevant.get(id) ?? 0);
  });
}

function gain(gradesInOrder: readonly number[]): number {
  return gradesInOrder.reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);
}

function relevantCount(relevant: Judgements): number {
  return [...relevant.values()].filter((grade) => grade > 0).length;
}

function checked(k: number): number {
  if (!Number.isSafeInteger(k) || k < 1) throw invalid(`k: must be a whole number of at least 1, got ${k}.`);
  return k;
}
