/**
 * Scores that mean the same for every question and every collection: 0…1, how likely it is that a passage answers the question.
 *
 * The ranking mixes scores that are spread over the candidates of one question (fuse.ts), so its best hit has 1 even where nothing fits.
 * What a passage itself says for the question is absolute: its cosine, and which share of the question's words it holds, each word
 * weighted by how rare it is. A logistic curve makes a score of both. Its coefficients are fitted on judged questions for each embedding
 * model, since every model has a range of cosines of its own:
 *
 *   npx pinakes eval <folder in the layout of BEIR> --calibrate
 *
 * Relevant and irrelevant passages weigh the same in the fit, so 0.5 is where a passage is as likely the one as the other. An answer whose
 * best hit is below `floor` is no answer. Models without coefficients have a rough scale and no floor.
 */
import type { TermCounts } from "../../vectors/index.ts";
import type { EmbeddingModel } from "../../ports/embedder.ts";

/** What a passage says for a question. */
export interface Evidence {
  /** Of its vector and the question's; absent where no vectors were compared. */
  readonly vector?: number;
  /** 0 without any word of the question; about 1 with each of them once; absent where no words were compared. */
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
  /** Of answers with vectors; by keywords alone every passage with a word of the question is one. */
  readonly floor: { readonly hybrid: number; readonly vector: number };
}

/** More than every word of the question once says little more. */
export const keywordMax = 1.5;

/** Words are the same for every model. Fitted on SciFact. */
export const keywordCurve: Curve = { bias: -3.714, vector: 0, keyword: 8.53 };

/** By the id of the model. Fitted on SciFact; the figures are in docs/knowledge.md. */
const fitted: ReadonlyMap<string, Calibration> = new Map([
  [
    "all-MiniLM-L6-v2",
    {
      hybrid: { bias: -6.024, vector: 11.334, keyword: 3.19 },
      vector: { bias: -6.743, vector: 15.121, keyword: 0 },
      // A cosine of about 0.35 without a word in common. SciFact alone would allow 0.18 and 0.13; a question in quite other words than a
      // short text's may be below that.
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

/** Of the floor that holds for a large collection, what holds for a single row. */
const floorShareMin = 0.25;
/** The fitted floors are those of about as many rows as SciFact has, or more. */
const floorRowsFull = 3_000;

/**
 * Below it the best of an answer is no answer; 0: there is no telling. The best of many unrelated passages scores higher than a single one
 * by chance, so the floor grows with the logarithm of the rows that were searched.
 */
export function floorOf(mode: ScoreMode | "graph", model: Pick<EmbeddingModel, "id" | "metric">, rows: number): number {
  if (mode === "keyword" || mode === "graph" || model.metric !== "cosine") return 0;
  const full = calibrationOf(model.id)?.floor[mode] ?? 0;
  const share = Math.min(1, Math.log(Math.max(1, rows)) / Math.log(floorRowsFull));
  return full * (floorShareMin + (1 - floorShareMin) * share);
}

/** The words of the question, each by how rare it is: what a passage of common length with each of them once would score. */
export function questionWeight({ rows, frequencies }: TermCounts): number {
  let sum = 0;
  for (const frequency of frequencies.values()) sum += Math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5));
  return sum;
}

function logistic({ bias, vector, keyword }: Curve, cosine: number, words: number): number {
  return 1 / (1 + Math.exp(-(bias + vector * cosine + keyword * words)));
}

/** For models of which nothing is known: more is better, and it is a number from 0 to 1. */
function nearness(score: number, metric: EmbeddingModel["metric"]): number {
  if (metric === "cosine") return Math.min(1, Math.max(0, score));
  // l2 is minus the distance; a dot product has no bound.
  return metric === "l2" ? 1 / (1 + Math.max(0, -score)) : Math.max(0, score / (1 + Math.abs(score)));
}
