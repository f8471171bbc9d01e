/**
 * Rows that callers embedded themselves, searched beside the chunks of documents. Their text is always compared with the query. Their
 * vectors are compared only if they have the dimensions of the collection's model, in which case they are assumed to be from that model.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Found } from "./rank-hits.ts";
import type { CheckedSearch } from "./search-input.ts";

/** The raw rows of a collection. */
export interface RawRows {
  readonly name: string;
  readonly dims: number;
}

/** Undefined if the collection has none, which is the common case and costs nothing more. */
export async function ownRowsOf(
  { vectors }: KnowledgeDependencies,
  scope: Scope,
  incarnation: string,
): Promise<RawRows | undefined> {
  const name = ownVectorsName(incarnation);
  const settings = await vectors.settings(scope, name);
  return settings === undefined ? undefined : { name, dims: settings.dims };
}

export interface OwnQuestion {
  readonly vector: Float32Array | undefined;
  readonly elsewhere: TermCounts | undefined;
}

export async function findOwnRows(
  { vectors }: KnowledgeDependencies,
  scope: Scope,
  { opened, model }: Pick<Found, "opened" | "model">,
  { name, dims }: RawRows,
  query: CheckedSearch,
  { vector, elsewhere }: OwnQuestion,
): Promise<readonly Found[]> {
  const { filter, asOf, limit } = query;
  const comparable = vector?.length === dims;
  if (query.mode === "graph" || (query.mode === "vector" && !comparable)) return [];
  const mode = query.mode === "hybrid" && !comparable ? "keyword" : query.mode;
  try {
    const { hits } = await vectors.query(scope, name, {
      mode,
      limit,
      ...(mode === "keyword" ? {} : { vector }),
      ...(mode === "vector" ? {} : { text: query.query, ...(elsewhere === undefined ? {} : { elsewhere }) }),
      ...(filter === undefined ? {} : { filter }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(query.diversity > 0 ? { includeVectors: true } : {}),
    });
    const wordsOnly = mode !== query.mode;
    return hits.map((hit) => ({ opened, document: undefined, model, hit, ...(wordsOnly ? { wordsOnly } : {}) }));
  } catch (error) {
    // Removed concurrently, or not yet created at that time.
    if (hasCode(error, "NOT_FOUND")) return [];
    throw error;
  }
}
