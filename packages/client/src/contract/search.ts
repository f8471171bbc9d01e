/** Searches: hits with their citations, the part of the graph, and evaluations of how well they find. */
import type { Term, Triple, TripleSource } from "./graph.ts";
import type { Collection } from "./knowledge.ts";
import type { JsonObject } from "../json.ts";

export const searchModes = ["hybrid", "vector", "keyword", "graph"] as const;
export type SearchMode = (typeof searchModes)[number];

/** How the scores of vectors and keywords become one. */
export const fusions = ["convex", "rrf"] as const;
export type Fusion = (typeof fusions)[number];

/** The location of a hit in its source. */
export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  /**
   * For a row with the caller's own vector: it belongs to no document (document_id and filename are empty), and its quote is its own text.
   */
  readonly row_id?: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly section?: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export type CitationToVerify = Pick<
  Citation,
  "repository_id" | "collection_id" | "document_id" | "row_id" | "version" | "start" | "end" | "quote"
>;

export const citationResults = [
  "exact",
  "moved",
  "not_in_document",
  "version_gone",
  "document_gone",
  "not_in_row",
  "row_gone",
] as const;

export interface CitationCheck {
  readonly valid: boolean;
  readonly result: (typeof citationResults)[number];
  /** Whether searches still show this version. */
  readonly current: boolean;
  /** The current position of the quote, if it moved. */
  readonly found_at?: number;
}

export interface Hit {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  /** 0…1, calibrated: one meaning for all questions and collections. */
  readonly score: number;
  /** Components of the ranking; `fused` orders the hits of a hybrid search. */
  readonly scores: {
    readonly vector?: number;
    readonly keyword?: number;
    readonly graph?: number;
    readonly fused?: number;
  };
  readonly metadata: JsonObject;
  /** Where the document came from, such as `upload:plan.pdf` or `s3://bucket/plan.pdf`; absent for a row with the caller's own vector. */
  readonly source?: string;
  readonly citation: Citation;
  /** Other hits of the same document, with `group_by`. */
  readonly more?: readonly { readonly chunk_id: string; readonly score: number }[];
  readonly explain?: JsonObject;
}

export const searchOutcomes = ["ok", "empty", "indexing", "no_match"] as const;
export type SearchOutcome = (typeof searchOutcomes)[number];

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Why there are no hits: nothing is stored, documents are still being indexed, or nothing is relevant. */
  readonly outcome: SearchOutcome;
  /** Collections that could not be searched; the others were. */
  readonly skipped?: readonly {
    readonly repository_id: string;
    readonly collection_id: string;
    readonly code: string;
    readonly reason: string;
  }[];
  /** Fields of the filter that nothing has. */
  readonly unknown_fields?: readonly string[];
  /** Adjustments of the request: a search of catalogs has at most 20 hits. */
  readonly warnings?: readonly string[];
  /** The part of the graph that the search used; absent if no searched collection has triples, or the graph was not used. */
  readonly graph?: SearchGraph;
  readonly mode_used: SearchMode;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly explain?: JsonObject;
}

/** Optional parts of a result besides its hits, if the query requested them. */
export interface QueryMore {
  /** With `include_metadata`. */
  readonly collections?: readonly Collection[];
  /** With `unknown_collections: "empty"`: whether all that were named exist. */
  readonly collection_exists?: boolean;
  readonly missing?: readonly { readonly repository: string; readonly collection?: string | undefined }[];
}

/** Entities that the question names, and the triples that lead from them to passages. */
export interface SearchGraph {
  readonly entities: readonly GraphEntity[];
  readonly edges: readonly GraphEdge[];
}

/** An entity that the question names. */
export interface GraphEntity {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly entity: Term;
  /** The question's entities. */
  readonly words: string;
  readonly score: number;
}

/** A triple that contributed to the ranking, and where it is stated. */
export interface GraphEdge extends Triple {
  readonly repository_id: string;
  readonly collection_id: string;
  /** 1: of an entity that the question names. */
  readonly hop: number;
  readonly score: number;
  /** Passages that state it, each with its position in the document's text; empty if it was asserted directly. */
  readonly sources: readonly TripleSource[];
}

/** The settings of searches that an evaluation compares. */
export interface RunConfiguration {
  readonly mode?: SearchMode | undefined;
  readonly fusion?: Fusion | undefined;
  readonly vector_weight?: number | undefined;
  readonly diversity?: number | undefined;
}

export interface EvaluationRun {
  readonly job_id: string;
  readonly finished_at: string;
  readonly run_by: string;
  readonly configuration: RunConfiguration;
  readonly queries: number;
  readonly k: number;
  readonly ndcg: number;
  readonly recall: number;
  readonly mrr: number;
  readonly search_ms_p50: number;
  readonly search_ms_p95: number;
}

/** Questions with their right documents, and how well searches found them. */
export interface Evaluation {
  readonly evaluation_id: string;
  readonly name: string;
  readonly collections: readonly { readonly repository: string; readonly collection: string }[];
  readonly query_count: number;
  /** Metrics are computed over the first k documents. */
  readonly k: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Newest first, the last 20. */
  readonly runs: readonly EvaluationRun[];
}

export interface EvaluationQuestion {
  /** Position of the query, from 1. */
  readonly number: number;
  readonly query: string;
  readonly relevant: readonly { readonly document_id: string; readonly grade: number }[];
}

/** One question of a run. */
export interface RunQuestion extends EvaluationQuestion {
  readonly ndcg: number;
  readonly recall: number;
  /** One divided by the rank of the first right document; 0 when none was found. */
  readonly mrr: number;
  readonly search_ms: number;
  /** The ranks of the right documents among the first k. */
  readonly found: readonly { readonly document_id: string; readonly rank: number }[];
  /** The first documents; null unless the caller started the run or is an admin, since the run searched with the access of its creator. */
  readonly ranked: readonly string[] | null;
}
