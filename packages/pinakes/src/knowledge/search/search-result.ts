/** Search results: chunks, each with its position in a document. */
import type { Citation, Hit as SearchHit, SearchAnswer } from "@pinakes/client";

/** `graph`: only what the graph leads to. */
export type { Citation, SearchHit };
/** A collection that could not be searched; the others were. */
export type SkippedCollection = NonNullable<SearchAnswer["skipped"]>[number];

export type {
  GraphEdge as GraphEdgeView,
  GraphEntity as GraphEntityView,
  SearchAnswer as SearchResult,
  SearchMode,
  TripleSource as GraphSourceView,
} from "@pinakes/client";
