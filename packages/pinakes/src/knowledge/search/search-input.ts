/** Search input, validated before anything is read. */
import type { SearchTarget } from "../collections/query-options.ts";
import { invalid, show } from "../../domain/errors.ts";
import { compileFilter, type Filter } from "../../domain/filter.ts";
import { knowledgeLimits } from "../limits.ts";
import { graphWeight, vectorWeight, type Fusion } from "./fuse.ts";
import { graphSearchLimits } from "./graph-limits.ts";
import type { SearchMode } from "./search-result.ts";

export interface SearchInput {
  readonly query: string;
  /** Absent: every collection the caller may read. */
  readonly collections?: readonly SearchTarget[] | undefined;
  readonly mode?: SearchMode | undefined;
  readonly limit?: number | undefined;
  readonly filter?: Filter | undefined;
  /** 0…1: drops hits with a lower score. Absent: an answer whose best hit is too weak is empty; 0 returns everything. */
  readonly min_score?: number | undefined;
  readonly explain?: boolean | undefined;
  readonly as_of?: string | undefined;
  /** `document`: the best chunk of each document, with the others in `more`. */
  readonly group_by?: "document" | undefined;
  /** 0…1: how strongly to prefer chunks that differ from those ranked before them. */
  readonly diversity?: number | undefined;
  readonly fusion?: Fusion | undefined;
  /** Weight of the vectors in the fusion, 0…1. */
  readonly vector_weight?: number | undefined;
  /** Includes archived collections. */
  readonly archived?: boolean | undefined;
  /** Use of the graph, in the modes hybrid and graph. */
  readonly graph?: GraphInput | undefined;
}

export interface GraphInput {
  /** Distance from the entities that the query names: 0 disables the graph. */
  readonly hops?: number | undefined;
  /** Maximum number of edges in the answer. */
  readonly limit?: number | undefined;
  /** 0…1: how much the graph can add to a score. */
  readonly weight?: number | undefined;
}

export interface CheckedSearch {
  readonly query: string;
  readonly collections: readonly SearchTarget[] | undefined;
  readonly mode: SearchMode;
  readonly limit: number;
  readonly filter: Filter | undefined;
  readonly minScore: number | undefined;
  readonly explain: boolean;
  readonly asOf: { readonly time: string } | undefined;
  readonly grouped: boolean;
  readonly diversity: number;
  readonly fusion: Fusion;
  readonly weight: number;
  readonly archived: boolean;
  /** Undefined: the graph is not used. */
  readonly graph: { readonly hops: number; readonly limit: number; readonly weight: number } | undefined;
}

export function checkSearch(input: SearchInput): CheckedSearch {
  const { queryCharsMax, searchHitsDefault, searchHitsMax, searchCollectionsMax } = knowledgeLimits;
  const {
    query,
    collections,
    mode = "hybrid",
    limit = searchHitsDefault,
    diversity = 0,
    vector_weight = vectorWeight,
    fusion = "convex",
  } = input;
  if (typeof query !== "string" || query.trim() === "" || query.length > queryCharsMax)
    throw invalid(`query: must be a string of 1–${queryCharsMax} characters.`);
  if (mode !== "hybrid" && mode !== "vector" && mode !== "keyword" && mode !== "graph")
    throw invalid(`mode: must be hybrid, vector, keyword or graph, got ${show(mode)}.`);
  if (!Number.isInteger(limit) || limit < 1 || limit > searchHitsMax)
    throw invalid(`limit: must be a whole number from 1 to ${searchHitsMax}, got ${show(limit)}.`);
  if (collections !== undefined && (collections.length === 0 || collections.length > searchCollectionsMax))
    throw invalid(`collections: name 1–${searchCollectionsMax}, or omit it to search all that you may read.`);
  if (!(diversity >= 0 && diversity <= 1))
    throw invalid(`diversity: must be a number from 0 to 1, got ${show(diversity)}.`);
  if (!(vector_weight >= 0 && vector_weight <= 1))
    throw invalid(`vector_weight: must be a number from 0 to 1, got ${show(vector_weight)}.`);
  if (fusion !== "convex" && fusion !== "rrf") throw invalid(`fusion: must be convex or rrf, got ${show(fusion)}.`);
  if (input.group_by !== undefined && input.group_by !== "document")
    throw invalid(`group_by: must be document, got ${show(input.group_by)}.`);
  if (input.min_score !== undefined && !(input.min_score >= 0 && input.min_score <= 1))
    throw invalid(`min_score: must be a number from 0 to 1, got ${show(input.min_score)}.`);
  // Even if there is nothing to search yet.
  if (input.filter !== undefined) compileFilter(input.filter);
  if (input.as_of !== undefined && Number.isNaN(Date.parse(input.as_of)))
    throw invalid(`as_of: must be a time such as 2030-01-01T00:00:00Z, got ${show(input.as_of)}.`);
  return {
    query,
    collections,
    mode,
    limit,
    filter: input.filter,
    minScore: input.min_score,
    explain: input.explain ?? false,
    asOf: input.as_of === undefined ? undefined : { time: input.as_of },
    grouped: input.group_by === "document",
    diversity,
    fusion,
    weight: vector_weight,
    archived: input.archived ?? false,
    graph: checkGraph(mode, input),
  };
}

function checkGraph(mode: SearchMode, { graph, as_of }: SearchInput): CheckedSearch["graph"] {
  const { hopsMax, hopsDefault, edgesShownDefault, edgesShownMax } = graphSearchLimits;
  const { hops = hopsDefault, limit = edgesShownDefault, weight = graphWeight } = graph ?? {};
  const least = mode === "graph" ? 1 : 0;
  if (!Number.isInteger(hops) || hops < least || hops > hopsMax)
    throw invalid(`graph.hops: must be a whole number from ${least} to ${hopsMax}, got ${show(hops)}.`);
  if (!Number.isInteger(limit) || limit < 0 || limit > edgesShownMax)
    throw invalid(`graph.limit: must be a whole number from 0 to ${edgesShownMax}, got ${show(limit)}.`);
  if (!(weight >= 0 && weight <= 1)) throw invalid(`graph.weight: must be a number from 0 to 1, got ${show(weight)}.`);
  if (mode === "vector" || mode === "keyword") {
    if (graph !== undefined && hops > 0)
      throw invalid(`graph: is for the modes hybrid and graph, not for ${mode}. Omit it, or change the mode.`);
    return undefined;
  }
  // The graph has no history: only vectors and keywords can be searched in the past.
  if (as_of !== undefined) {
    if (mode === "graph") throw invalid("as_of: the graph has no history; search with another mode.");
    return undefined;
  }
  return hops === 0 ? undefined : { hops, limit, weight };
}
