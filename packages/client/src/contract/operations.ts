/** Work that outlives the call that started it, and what happens meanwhile. */
import type { JsonObject } from "../json.ts";

export const jobStatuses = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
export type JobStatus = (typeof jobStatuses)[number];

export interface Job {
  readonly job_id: string;
  readonly kind: string;
  readonly status: JobStatus;
  readonly progress: { readonly done: number; readonly total: number };
  readonly attempts: number;
  readonly error: string | null;
  readonly result: JsonObject | null;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const operationStatuses = ["running", "failed", "done"] as const;
export type OperationStatus = (typeof operationStatuses)[number];

/** A change of a collection in every store that holds a part of it. Its id is that of its job. */
export interface Operation {
  readonly operation_id: string;
  readonly action: "delete-collection" | "archive-collection";
  readonly status: OperationStatus;
  readonly partial: boolean;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly stores: readonly StoreProgress[];
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
}

export interface StoreProgress {
  readonly store: string;
  readonly status: "waiting" | "sent" | "confirmed" | "left";
  readonly attempts: number;
  readonly deleted: number;
  /** The store's last count; null before the first. */
  readonly remaining: number | null;
  /** What `deleted` and `remaining` count. */
  readonly unit: string;
  readonly duration_ms: number;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly next_at: string | null;
}

export const knowledgeEventTypes = ["document.status", "collection.status", "job.progress", "job.done"] as const;

export interface KnowledgeEvent {
  readonly id: string;
  readonly type: (typeof knowledgeEventTypes)[number];
  readonly workspace_id: string;
  readonly resource: JsonObject;
  readonly data: JsonObject;
  readonly at: string;
}

/**
 * `object`: a file. `rows`: passages of one run. `triples`: what one source supported. `generation`: all passages of an earlier
 * generation. `collection`: what a store holds of a collection that no record names.
 */
export const quarantineKinds = ["object", "rows", "triples", "generation", "collection"] as const;
export type QuarantineKind = (typeof quarantineKinds)[number];

/** Something that a repair took away, kept until `expires_at`. */
export interface QuarantineEntry {
  readonly entry_id: string;
  readonly kind: QuarantineKind;
  /** Where it was: objects, vectors, triples, or the name of another store. */
  readonly store: string;
  /** Empty where no record names the collection. */
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly document_id: string | null;
  /** The key of the file, the name of the vectors, or the source of the triples. */
  readonly target: string;
  readonly detail: string;
  /** Files, passages, triples or rows. */
  readonly count: number;
  /** Of the kept copy; 0 where the data stays in its place. */
  readonly bytes: number;
  /** The repair that took it away. */
  readonly job_id: string | null;
  readonly quarantined_at: string;
  readonly expires_at: string;
  /** When it was last written back; the copy stays until it expires. */
  readonly restored_at: string | null;
}
