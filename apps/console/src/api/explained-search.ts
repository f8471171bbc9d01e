/** Searches with `explain`: score contributions, searched collections, filtered chunks and the graph path. */
import type { Fusion, Hit, SearchAnswer } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";
import type { SearchQuestion } from "./search.ts";

export interface LabQuestion extends Omit<SearchQuestion, "as_user"> {
  readonly fusion?: Fusion;
  readonly vector_weight?: number;
  readonly diversity?: number;
  readonly group_by?: "document";
  readonly graph?: { readonly hops: number };
  readonly as_user?: { readonly user_id: string; readonly groups?: readonly string[] };
}

export interface Parts {
  readonly vector?: number;
  readonly keyword?: number;
  readonly graph?: number;
}

export interface ExplainedHit extends Omit<Hit, "explain"> {
  readonly explain?: { readonly parts: Parts; readonly access: string };
}

export interface Searched {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly embedding_model: string;
  readonly access: string;
  readonly passages: number;
  readonly removed_by_filter: number;
}

export interface ExplainedAnswer extends Omit<SearchAnswer, "hits" | "explain"> {
  readonly hits: readonly ExplainedHit[];
  readonly explain?: {
    readonly mode: string;
    readonly fusion: Fusion;
    readonly vector_weight: number;
    readonly collections: readonly Searched[];
    readonly graph?: {
      readonly hops: number;
      readonly weight: number;
      readonly entities: number;
      readonly passages_added: number;
    };
  };
}

export function explainedSearchOptions(question: LabQuestion | undefined) {
  return queryOptions({
    queryKey: ["search", question],
    queryFn: ({ signal }) => post<ExplainedAnswer>("/v1/search", question, { signal }),
    enabled: question !== undefined,
  });
}
