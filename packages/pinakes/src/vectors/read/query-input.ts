/** The input of a query, validated. */
import type { VectorQueryMode as QueryMode } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import { compileFilter, type Filter } from "../../domain/filter.ts";
import { vectorLimits } from "../limits.ts";
import { checkVector } from "../log/rows.ts";
import { shortestLength } from "../segment/quantize.ts";
import type { TermCounts } from "../text/statistics.ts";
import type { ReadOptions } from "./reader.ts";

export type { QueryMode };

export interface QueryInput extends ReadOptions {
  readonly vector?: Float32Array | readonly number[] | undefined;
  readonly text?: string | undefined;
  /** Default: depends on what is given; both: hybrid. */
  readonly mode?: QueryMode | undefined;
  readonly limit?: number | undefined;
  /** On the rows' metadata; see domain/filter.ts. Evaluated before ranking. */
  readonly filter?: Filter | undefined;
  /** The average share of the true nearest rows to find: 0.8 … 1. 1 scans every row. */
  readonly recall?: number | undefined;
  /** Hits with a lower score are left out. */
  readonly minScore?: number | undefined;
  /** Also the vectors themselves. */
  readonly includeVectors?: boolean | undefined;
  /**
   * The sum of what `countTerms` returned for other collections, whose hits are ranked together with these: words weigh as if all their
   * rows were here, so that keyword scores are comparable.
   */
  readonly elsewhere?: TermCounts | undefined;
}

export interface CheckedQuery {
  readonly mode: QueryMode;
  readonly vector: Float32Array | undefined;
  readonly text: string | undefined;
  readonly limit: number;
  readonly filter: Filter | undefined;
  readonly recall: number | undefined;
  readonly minScore: number | undefined;
  readonly includeVectors: boolean;
  readonly elsewhere: TermCounts | undefined;
}

const limitDefault = 10;

export function checkQuery(input: QueryInput, dims: number): CheckedQuery {
  if (typeof input !== "object" || input === null)
    throw invalid("A query must be an object with vector, text or both.");
  const mode = checkMode(input);
  const limit = input.limit ?? limitDefault;
  if (!Number.isInteger(limit) || limit < 1 || limit > vectorLimits.queryHitsMax)
    throw invalid(`limit: must be a whole number from 1 to ${vectorLimits.queryHitsMax}, got ${show(input.limit)}.`);
  const { recall, minScore, filter } = input;
  if (recall !== undefined && !(typeof recall === "number" && recall > 0 && recall <= 1))
    throw invalid(`recall: must be a number above 0 and up to 1, got ${show(recall)}.`);
  if (minScore !== undefined && !Number.isFinite(minScore))
    throw invalid(`minScore: must be a number, got ${show(minScore)}.`);
  if (filter !== undefined) compileFilter(filter);
  return {
    mode,
    limit,
    recall,
    minScore,
    filter: filter === undefined || Object.keys(filter).length === 0 ? undefined : filter,
    vector: mode === "keyword" ? undefined : withDirection(checkVector(input.vector, "vector", dims)),
    text: mode === "vector" ? undefined : checkText(input.text),
    includeVectors: input.includeVectors ?? false,
    elsewhere: input.elsewhere === undefined ? undefined : checkCounts(input.elsewhere),
  };
}

/** As with rows, a vector that is too short has no direction. */
function withDirection(vector: Float32Array): Float32Array {
  return vector.every((value) => Math.abs(value) < shortestLength) ? new Float32Array(vector.length) : vector;
}

function checkMode({ mode, vector, text }: QueryInput): QueryMode {
  if (vector === undefined && text === undefined) throw invalid("A query requires a vector, a text, or both.");
  const given = vector === undefined ? "keyword" : text === undefined ? "vector" : "hybrid";
  if (mode === undefined) return given;
  if (mode !== "vector" && mode !== "keyword" && mode !== "hybrid")
    throw invalid(`mode: must be vector, keyword or hybrid, got ${show(mode)}.`);
  if (mode !== "keyword" && vector === undefined) throw invalid(`mode: ${mode} requires a vector.`);
  if (mode !== "vector" && text === undefined) throw invalid(`mode: ${mode} requires a text.`);
  return mode;
}

function checkCounts(counts: TermCounts): TermCounts {
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  const { rows, tokens, frequencies } = (counts ?? {}) as Partial<TermCounts>;
  const known =
    frequencies instanceof Map &&
    frequencies.values().every((frequency) => isCount(frequency) && frequency <= (rows as number));
  if (!isCount(rows) || !isCount(tokens) || !known)
    throw invalid("elsewhere: must be the sum of what countTerms returned for other collections.");
  return counts;
}

export function checkText(text: unknown): string {
  if (typeof text !== "string" || text.length > vectorLimits.queryTextCharsMax)
    throw invalid(`text: must be a string of at most ${vectorLimits.queryTextCharsMax} characters.`);
  return text;
}
