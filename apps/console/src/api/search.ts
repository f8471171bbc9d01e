import type { Hit, SearchAnswer } from "@pinakes/client";
import { post } from "./request.ts";

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

export function search(question: SearchQuestion, signal: AbortSignal): Promise<SearchAnswer> {
  return post<SearchAnswer>("/v1/search", question, { signal });
}

/** The file name, or the row id. */
export function hitName({ citation: { row_id, filename } }: Pick<Hit, "citation">): string {
  return row_id === undefined ? filename : `row ${row_id}`;
}
