/**
 * Runs a test set through the real system: its documents through uploads, parsing, chunking and embedding, its queries through search. The
 * result is what users get, not what a library alone could do.
 */
import type { Caller } from "../domain/caller.ts";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import type { EvaluatedKnowledge } from "./evaluated-knowledge.ts";
import type { BeirSet } from "./beir.ts";
import { comparePaired, type Comparison } from "./compare.ts";
import type { Configuration } from "./configuration.ts";
import { mean, ndcgAt, percentile, recallAt, reciprocalRankAt, runQueries, type Metric } from "./measure.ts";
import { idField, storeSet, type StoredSet } from "./store-set.ts";

export interface NamedConfiguration {
  readonly name: string;
  readonly search: Configuration;
  /** Chunking of the documents; NONE gives one chunk each. */
  readonly chunking: ChunkingStrategy;
}

export interface EvaluationProgress {
  readonly phase: "documents" | "queries";
  /** The results per configuration. */
  readonly name: string;
  readonly done: number;
  readonly total: number;
}

export interface EvaluationOptions {
  readonly configurations: readonly NamedConfiguration[];
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Evaluated {
  readonly name: string;
  readonly configuration: NamedConfiguration;
  readonly stored: StoredSet;
  /** Means over the queries, by the names of `metrics`. */
  readonly quality: Readonly<Record<string, number>>;
  /** The same per query, in the set's order, for comparisons. */
  readonly scores: Readonly<Record<string, readonly number[]>>;
  /** Search time without embedding the query. */
  readonly searchMs: { readonly p50: number; readonly p95: number };
}

const documentsDeep = 100;
/** Hits requested per document, since several hits may be of the same document. */
const passagesPerDocument = 5;
export const metrics: readonly Metric[] = [ndcgAt(10), recallAt(10), recallAt(documentsDeep), reciprocalRankAt(10)];

/** Configurations with the same chunking share one collection. */
export async function evaluateSet(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  set: BeirSet,
  options: EvaluationOptions,
): Promise<readonly Evaluated[]> {
  const evaluated: Evaluated[] = [];
  for (const configuration of options.configurations)
    evaluated.push(await evaluateOne(knowledge, caller, set, configuration, options));
  return evaluated;
}

async function evaluateOne(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  set: BeirSet,
  configuration: NamedConfiguration,
  { onProgress, signal }: EvaluationOptions,
): Promise<Evaluated> {
  const { name, search, chunking } = configuration;
  const stored = await storeSet(knowledge, caller, set, {
    chunking,
    onProgress: ({ done, total }) => onProgress?.({ phase: "documents", name, done, total }),
    signal,
  });
  const answered = await runQueries({
    search: (input) => knowledge.search.run(caller, input),
    collections: [{ repository: stored.repository, collection: stored.collection }],
    queries: set.queries,
    configuration: search,
    limit:
      chunking.type === "NONE"
        ? documentsDeep
        : Math.min(knowledgeLimits.searchHitsMax, documentsDeep * passagesPerDocument),
    documentOf: (hit) => hit.metadata[idField] as string,
    onQuery: (done) => onProgress?.({ phase: "queries", name, done, total: set.queries.length }),
    signal,
  });
  const scores = Object.fromEntries(metrics.map((metric) => [metric.name, answered.map(metric.of)]));
  const times = answered.map(({ searchMs }) => searchMs);
  return {
    name,
    configuration,
    stored,
    quality: Object.fromEntries(Object.entries(scores).map(([metric, values]) => [metric, mean(values)])),
    scores,
    searchMs: { p50: percentile(times, 0.5), p95: percentile(times, 0.95) },
  };
}

/** By the names of `metrics`. */
export function compareEvaluated(a: Evaluated, b: Evaluated, seed: number): Readonly<Record<string, Comparison>> {
  return Object.fromEntries(
    metrics.map(({ name }) => [name, comparePaired(a.scores[name] ?? [], b.scores[name] ?? [], { seed })]),
  );
}
