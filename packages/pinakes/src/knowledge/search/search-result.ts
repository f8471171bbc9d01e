/** What a search answers: passages, each with where it stands in its document. */
import type { Citation, Hit as SearchHit, SearchAnswer } from "@pinakes/client";
import type { Term } from "../../domain/rdf.ts";
import type { TripleView } from "../graph/triple-view.ts";
import type { QueryMode } from "../../vectors/index.ts";

/** `graph`: only what the graph leads to. */
export type { Citation, SearchHit };
/** A collection that could not be searched; the others were. */
export type SkippedCollection = NonNullable<SearchAnswer["skipped"]>[number];

export type SearchMode = QueryMode | "graph";

/** An entity that the question names. */
export interface GraphEntityView {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly entity: Term;
  /** Of the question. */
  readonly words: string;
  readonly score: number;
}

/** A triple that the ranking went over, and where it is stated. */
export interface GraphEdgeView extends TripleView {
  readonly repository_id: string;
  readonly collection_id: string;
  /** 1: of an entity that the question names. */
  readonly hop: number;
  readonly score: number;
  /** Passages that state it, each with its place in the document's text; none where somebody asserted it. */
  readonly sources: readonly GraphSourceView[];
}

export interface GraphSourceView {
  readonly document_id: string;
  readonly chunk_id: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly start: number;
  readonly end: number;
}

export interface SearchResult extends SearchAnswer {
  /** Absent: no collection that was searched has triples, or the graph was not asked. */
  readonly graph?: { readonly entities: readonly GraphEntityView[]; readonly edges: readonly GraphEdgeView[] };
}
