/**
 * Rows that callers embedded themselves, as a search finds them beside the passages of documents. Their words are always compared with the
 * question's. Their vectors are only where they have the dimensions of the collection's model: then they are taken for vectors of that
 * model; others cannot be compared with the question at all.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Found } from "./rank-hits.ts";
import type { CheckedSearch } from "./search-input.ts";

/** Where the rows of a collection are. */
export interface RawRows {
  readonly name: string;
  readonly dims: number;
}

/** Undefined where the collection has none: most have not, and are asked nothing more. */
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
    // They went meanwhile, or there were none at that time.
    if (hasCode(error, "NOT_FOUND")) return [];
    throw error;
  }
}
