/**
 * Scores that are comparable across queries and collections: 0…1, the likelihood that a chunk answers the query.
 *
 * The ranking normalises scores over the candidates of one query (fuse.ts), so its best hit has 1 even if nothing fits. The evidence of a
 * chunk itself is absolute: its cosine, and the share of the query's words that it contains, each word weighted by its rarity. A logistic
 * curve turns both into a score. Its coefficients are fitted on judged queries for each embedding model, since every model has its own
 * range of cosines:
 *
 *   npx pinakes eval <folder in BEIR layout> --calibrate
 *
 * Relevant and irrelevant chunks have equal weight in the fit, so 0.5 means that both are equally likely. An answer whose best hit is below
 * `floor` is empty. Models without coefficients have a rough scale and no floor.
 */
import type { TermCounts } from "../../vectors/index.ts";
import type { EmbeddingModel } from "../../ports/embedder.ts";

/** The evidence of a chunk for a query. */
export interface Evidence {
  /** Similarity of its vector to the query's; absent if no vectors were compared. */
  readonly vector?: number;
  /** 0 without any word of the query; about 1 with each of them once; absent if no words were compared. */
  readonly keyword?: number;
}

interface Curve {
  readonly bias: number;
  readonly vector: number;
  readonly keyword: number;
}

export interface Calibration {
  readonly hybrid: Curve;
  readonly vector: Curve;
  /** For answers with vectors; by keywords alone every chunk with a word of the query counts. */
  readonly floor: { readonly hybrid: number; readonly vector: number };
}

/** Repeating the words of the query more often says little more. */
export const keywordMax = 1.5;

/** Words work the same for every model. Fitted on SciFact. */
export const keywordCurve: Curve = { bias: -3.714, vector: 0, keyword: 8.53 };

/** By model id. Fitted on SciFact; the figures are in docs/knowledge.md. */
const fitted: ReadonlyMap<string, Calibration> = new Map([
  [
    "all-MiniLM-L6-v2",
    {
      hybrid: { bias: -6.024, vector: 11.334, keyword: 3.19 },
      vector: { bias: -6.743, vector: 15.121, keyword: 0 },
      // A cosine of about 0.35 without a common word. SciFact alone would allow 0.18 and 0.13; a query that paraphrases a short text may be
      // below that.
      floor: { hybrid: 0.12, vector: 0.1 },
    },
  ],
]);

export function calibrationOf(model: string): Calibration | undefined {
  return fitted.get(model);
}

export type ScoreMode = "hybrid" | "vector" | "keyword";

/** 0…1. */
export function calibrated(
  { vector = 0, keyword = 0 }: Evidence,
  mode: ScoreMode,
  model: Pick<EmbeddingModel, "id" | "metric">,
): number {
  const words = Math.min(keyword, keywordMax);
  if (mode === "keyword") return logistic(keywordCurve, 0, words);
  const known = model.metric === "cosine" ? calibrationOf(model.id) : undefined;
  if (known !== undefined) return logistic(known[mode], vector, words);
  const near = nearness(vector, model.metric);
  return mode === "vector" ? near : (near + logistic(keywordCurve, 0, words)) / 2;
}

/** Share of the full floor that applies to a single row. */
const floorShareMin = 0.25;
/** The fitted floors apply from about the size of SciFact. */
const floorRowsFull = 3_000;

/**
 * Below it the best hit is no answer; 0: unknown. The best of many unrelated chunks scores higher than a single one by chance, so the floor
 * grows with the logarithm of the number of rows searched.
 */
export function floorOf(mode: ScoreMode | "graph", model: Pick<EmbeddingModel, "id" | "metric">, rows: number): number {
  if (mode === "keyword" || mode === "graph" || model.metric !== "cosine") return 0;
  const full = calibrationOf(model.id)?.floor[mode] ?? 0;
  const share = Math.min(1, Math.log(Math.max(1, rows)) / Math.log(floorRowsFull));
  return full * (floorShareMin + (1 - floorShareMin) * share);
}

/** The words of the query weighted by their rarity: the score of a chunk of average length with each of them once. */
export function questionWeight({ rows, frequencies }: TermCounts): number {
  let sum = 0;
  for (const frequency of frequencies.values()) sum += Math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5));
  return sum;
}

function logistic({ bias, vector, keyword }: Curve, cosine: number, words: number): number {
  return 1 / (1 + Math.exp(-(bias + vector * cosine + keyword * words)));
}

/** For uncalibrated models: monotonic, from 0 to 1. */
function nearness(score: number, metric: EmbeddingModel["metric"]): number {
  if (metric === "cosine") return Math.min(1, Math.max(0, score));
  // l2 is the negative distance; a dot product is unbounded.
  return metric === "l2" ? 1 / (1 + Math.max(0, -score)) : Math.max(0, score / (1 + Math.abs(score)));
}
