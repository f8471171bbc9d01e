/** Runs judged queries, and the metrics of their results. */
import type { SearchInput } from "../knowledge/search/search-input.ts";
import type { SearchHit, SearchResult } from "../knowledge/search/search-result.ts";
import type { Configuration } from "./configuration.ts";
import { ndcg, recall, reciprocalRank, type JudgedRanking, type Judgements } from "./metrics.ts";

export interface JudgedQuery {
  readonly id: string;
  readonly text: string;
  readonly relevant: Judgements;
}

export interface Answered extends JudgedRanking {
  readonly id: string;
  /** Search time without embedding the query. */
  readonly searchMs: number;
}

export interface RunQueries {
  readonly search: (input: SearchInput) => Promise<SearchResult>;
  readonly collections: NonNullable<SearchInput["collections"]>;
  readonly queries: readonly JudgedQuery[];
  readonly configuration: Configuration;
  /** Chunks per query. */
  readonly limit: number;
  /** The document id of a hit in the judgements. */
  readonly documentOf: (hit: SearchHit) => string;
  /** After each query. */
  readonly onQuery?: ((done: number) => Promise<void> | void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sequentially, so that times are those of a search without contention. */
export async function runQueries({
  search,
  collections,
  queries,
  configuration,
  limit,
  documentOf,
  onQuery,
  signal,
}: RunQueries): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const { id, text, relevant } of queries) {
    signal?.throwIfAborted();
    const { hits, timings } = await search({ ...configuration, query: text, collections, limit });
    // A document ranks where its best chunk ranks.
    const ranked = [...new Set(hits.map(documentOf))];
    answered.push({ id, relevant, ranked, searchMs: timings.search_ms });
    await onQuery?.(answered.length);
  }
  return answered;
}

export interface Metric {
  readonly name: string;
  readonly of: (ranking: JudgedRanking) => number;
}

export function ndcgAt(k: number): Metric {
  return { name: `ndcg@${k}`, of: ({ ranked, relevant }) => ndcg(ranked, relevant, k) };
}

export function recallAt(k: number): Metric {
  return { name: `recall@${k}`, of: ({ ranked, relevant }) => recall(ranked, relevant, k) };
}

export function reciprocalRankAt(k: number): Metric {
  return { name: `mrr@${k}`, of: ({ ranked, relevant }) => reciprocalRank(ranked, relevant, k) };
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value that this share of all does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
