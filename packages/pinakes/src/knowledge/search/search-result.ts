/** What a search answers: passages, each with where it stands in its document. */
import type { JsonObject } from "../../domain/json.ts";
import type { QueryMode } from "../../vectors/index.ts";

export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly section?: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface SearchHit {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  readonly score: number;
  readonly scores: { readonly vector?: number; readonly keyword?: number };
  readonly metadata: JsonObject;
  readonly citation: Citation;
  readonly more?: readonly { readonly chunk_id: string; readonly score: number }[];
  readonly explain?: JsonObject;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  readonly mode_used: QueryMode;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly explain?: JsonObject;
}
