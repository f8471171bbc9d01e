/** Searching, and what is found. */
import { post } from "./request.ts";

export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
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
  readonly scores: { readonly vector?: number; readonly keyword?: number; readonly graph?: number };
  readonly metadata: unknown;
  readonly citation: Citation;
  readonly [more: string]: unknown;
}

export interface SearchQuestion {
  readonly query: string;
  readonly collections?: readonly { readonly repository: string; readonly collection: string }[];
  readonly mode?: "hybrid" | "vector" | "keyword" | "graph";
  readonly limit?: number;
  readonly filter?: unknown;
  readonly min_score?: number;
  readonly explain?: boolean;
  readonly as_of?: string;
  readonly as_user?: unknown;
}

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  readonly mode_used: string;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly [more: string]: unknown;
}

export function search(question: SearchQuestion, signal: AbortSignal): Promise<SearchAnswer> {
  return post<SearchAnswer>("/v1/search", question, { signal });
}
