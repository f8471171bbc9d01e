/** The vectors of a collection, and rows that callers embed themselves. */
import type { Collection } from "./knowledge.ts";
import type { JsonObject } from "../json.ts";

export const vectorQueryModes = ["vector", "keyword", "hybrid"] as const;
export type VectorQueryMode = (typeof vectorQueryModes)[number];

/** How two vectors are compared. */
export const vectorMetrics = ["cosine", "dot", "l2"] as const;
export type VectorMetric = (typeof vectorMetrics)[number];

export interface VectorStats {
  readonly collection: string;
  readonly status: "active" | "diverged";
  readonly settings: { readonly dims: number; readonly metric: VectorMetric; readonly language: string };
  readonly version: number;
  readonly committedAt: number;
  /** The last write that was acknowledged, and the last one that is in the segments. */
  readonly lastSeq: number;
  readonly appliedSeq: number;
  readonly pendingDeltas: number;
  readonly pendingBytes: number;
  /** How long the oldest write has waited for compaction; 0 when none does. */
  readonly oldestPendingMs: number;
  readonly deadDeltas: number;
  /** Rows in the segments; fresh deltas not counted. */
  readonly liveRows: number;
  readonly bytes: number;
  readonly segments: readonly {
    readonly key: string;
    readonly rows: number;
    readonly live: number;
    readonly bytes: number;
  }[];
  readonly lease: { readonly owner: string | null; readonly epoch: number };
}

export interface VectorVersion {
  readonly version: number;
  readonly committedAt: number;
  readonly reason: string;
  readonly writer: string;
  readonly epoch: number;
  readonly appliedSeq: number;
  readonly live: number;
  readonly segments: number;
  readonly bytes: number;
}

export interface VectorContents {
  readonly stats: VectorStats;
  readonly versions: readonly VectorVersion[];
  /** Rows that can be found now, including those that are in no segment yet. */
  readonly count: number;
}

/** `stats` and `versions` refer to the passages, or to the rows if there are no passages. */
export interface Manifest {
  readonly stats: VectorStats | null;
  readonly versions: readonly VectorVersion[];
  readonly passages: VectorContents | null;
  readonly rows: VectorContents | null;
}

/** `busy`: another process compacts. `fenced`: another process took over. `waiting`: a delta could not be read and will be tried again. */
export type CompactionOutcome = "done" | "busy" | "fenced" | "waiting" | "stopped" | "empty";

export interface Compaction {
  readonly outcome: CompactionOutcome;
  readonly folds?: number;
  readonly merges?: number;
  /** Rows written into segments, by folds and merges. */
  readonly rowsWritten?: number;
  /** Why it waits or was fenced. */
  readonly reason?: string;
}

/** A row that a caller embedded itself. The first rows of a collection set the dimensions of all. */
export interface NewRow {
  readonly id: string;
  readonly vector: readonly number[];
  /** Found by keyword queries. */
  readonly text?: string | undefined;
  /** Queries can filter by it. */
  readonly metadata?: JsonObject | undefined;
}

export interface RowsWritten {
  readonly delta_id: string;
  readonly session: string;
  /** The delta already existed: nothing was written. */
  readonly repeated: boolean;
  /** Ids that occurred more than once; the last one counts. */
  readonly duplicates: readonly string[];
}

export interface RowQuery {
  readonly vector?: readonly number[] | undefined;
  readonly text?: string | undefined;
  /** Derived from the input if absent; both: hybrid. */
  readonly mode?: VectorQueryMode | undefined;
  readonly limit?: number | undefined;
  /** On the metadata, evaluated before ranking. A field that no row has is INVALID. */
  readonly filter?: JsonObject | undefined;
  /** Average share of the true nearest rows that are found; 1 scans every row. */
  readonly recall?: number | undefined;
  readonly min_score?: number | undefined;
  /** Adds the vector of each hit. */
  readonly include_vectors?: boolean | undefined;
  /** Adds the record of the collection. */
  readonly include_metadata?: boolean | undefined;
}

export interface RowHit {
  readonly id: string;
  /** Cosine similarity, dot product or minus the distance; BM25; or the sum of reciprocal ranks. More is better. */
  readonly score: number;
  /** The contribution of each part; absent if the row was not among the best of that part. */
  readonly scores: { readonly vector?: number; readonly keyword?: number };
  readonly text?: string;
  readonly metadata: JsonObject;
  /** With `include_vectors`. */
  readonly vector?: readonly number[];
}

export interface RowQueryAnswer {
  readonly hits: readonly RowHit[];
  readonly mode_used: VectorQueryMode;
  /** With `include_metadata`. */
  readonly collection?: Collection;
}
