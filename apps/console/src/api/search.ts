/** Searching, and what is found. */
import { post } from "./request.ts";

export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  /** Of a row that a caller embedded itself: it is of no document. */
  readonly row_id?: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly section?: string;
  /** UTF-16 code units into the text of the document. */
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface Hit {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  readonly score: number;
  readonly scores: {
    readonly vector?: number;
    readonly keyword?: number;
    readonly graph?: number;
    readonly fused?: number;
  };
  readonly metadata: unknown;
  readonly citation: Citation;
  readonly [more: string]: unknown;
}

export interface SearchQuestion {
  readonly query: string;
  readonly collections?: readonly { readonly repository: string; readonly collection?: string }[];
  readonly mode?: "hybrid" | "vector" | "keyword" | "graph";
  readonly limit?: number;
  readonly filter?: unknown;
  readonly min_score?: number;
  readonly explain?: boolean;
  readonly as_of?: string;
  readonly as_user?: unknown;
}

export type SearchOutcome = "ok" | "empty" | "indexing" | "no_match";

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Why there are no hits, if there are none. */
  readonly outcome: SearchOutcome;
  /** Collections that could not be searched. */
  readonly skipped?: readonly {
    readonly repository_id: string;
    readonly collection_id: string;
    readonly reason: string;
  }[];
  readonly mode_used: string;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly [more: string]: unknown;
}

export function search(question: SearchQuestion, signal: AbortSignal): Promise<SearchAnswer> {
  return post<SearchAnswer>("/v1/search", question, { signal });
}

/** What a hit is called: by its file, or as the row that it is. */
export function hitName({ citation: { row_id, filename } }: Pick<Hit, "citation">): string {
  return row_id === undefined ? filename : `row ${row_id}`;
}
