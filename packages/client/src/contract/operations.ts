/** Background work that outlives its request, and its events. */
import type { JsonObject, JsonValue } from "../json.ts";

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

export const operationActions = ["delete-collection", "archive-collection"] as const;
export type OperationAction = (typeof operationActions)[number];

export const storeStatuses = ["waiting", "sent", "confirmed", "left"] as const;
export type StoreStatus = (typeof storeStatuses)[number];

/** A change of a collection in every store that has data of it. Its id is that of its job. */
export interface Operation {
  readonly operation_id: string;
  readonly action: OperationAction;
  readonly status: OperationStatus;
  /** At least one store was skipped: it does not support this, or is no longer registered. */
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
  readonly status: StoreStatus;
  readonly attempts: number;
  readonly deleted: number;
  /** The store's last count; null before the first. */
  readonly remaining: number | null;
  /** The unit of `deleted` and `remaining`. */
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
 * `object`: a file. `rows`: passages of one run. `triples`: triples supported by one source. `generation`: all passages of an earlier
 * generation. `collection`: data of a collection in a store that no record names.
 */
export const quarantineKinds = ["object", "rows", "triples", "generation", "collection"] as const;
export type QuarantineKind = (typeof quarantineKinds)[number];

/** Data that a repair removed, kept until `expires_at`. */
export interface QuarantineEntry {
  readonly entry_id: string;
  readonly kind: QuarantineKind;
  /** Where it was: objects, vectors, triples, or the name of another store. */
  readonly store: string;
  /** Empty if no record names the collection. */
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly document_id: string | null;
  /** The key of the file, the name of the vectors, or the source of the triples. */
  readonly target: string;
  readonly detail: string;
  /** Files, passages, triples or rows. */
  readonly count: number;
  /** Size of the copy; 0 if the data stays in place. */
  readonly bytes: number;
  /** The repair that took it away. */
  readonly job_id: string | null;
  readonly quarantined_at: string;
  readonly expires_at: string;
  /** When it was last written back; the copy stays until it expires. */
  readonly restored_at: string | null;
}

/** One alarm of a workspace. */
export interface AlarmState {
  readonly name: string;
  readonly help: string;
  readonly unit: "seconds" | "operations";
  readonly value: number;
  /** The alarm fires above it. */
  readonly threshold: number;
  readonly firing: boolean;
  /** The problem; null unless the alarm fires. */
  readonly detail: string | null;
}

/** The deletion lag of a workspace. */
export interface DeletionLag {
  /** Deletes that some store has not confirmed yet. */
  readonly unfinished: number;
  /** Deletes that some store failed repeatedly. */
  readonly failed: number;
  /** Age of the oldest; 0 if there is none. */
  readonly lag_seconds: number;
  /** The age at which a warning is raised. */
  readonly limit_seconds: number;
  readonly oldest: Pick<Operation, "operation_id" | "repository_id" | "collection_id" | "created_at"> | null;
  /** null: no problem. */
  readonly warning: string | null;
}

export interface Queue {
  readonly name: string;
  readonly waiting: number;
  readonly in_progress: number;
  readonly failed: number;
  /** Null if it is unknown which dead letters belong to the workspace. */
  readonly dead: number | null;
  /** Why `dead` is null. */
  readonly dead_unknown?: string;
  /** Age of the oldest waiting or running entry; null if there is none. */
  readonly oldest_age_seconds: number | null;
}

export interface DeadLetter {
  readonly dead_id: string;
  /** For the queue of documents. */
  readonly document_id?: string;
  /** For any other queue: the message as sent. */
  readonly message?: JsonValue;
  readonly cause: string;
  readonly reason: string | null;
  readonly dead_at: string;
  readonly failures: number;
}

/** The checks of an audit: all stores are compared with the records. */
export const findingKinds = [
  /** A record names content or text that does not exist. */
  "record_without_object",
  /** Data marked as missing by a repair exists again. */
  "bytes_returned",
  /** A file of a collection that no record names. */
  "object_without_record",
  /** Passages of a document or a run that does not exist, or of an earlier generation. */
  "vectors_without_document",
  /** Fewer passages than the record says. */
  "document_without_vectors",
  /** Triples whose source is a document or a run that does not exist. */
  "triples_without_support_source",
  /** Counters that differ from a recount. */
  "counter_off",
  /** Vectors whose versions, log or files do not fit together. */
  "manifest_broken",
  /** Data of a collection that no record names. */
  "unknown_incarnation",
  /** An operation on all stores without progress. */
  "stuck_operation",
  /** Data that had to be removed and was not. */
  "removal_left",
] as const;
export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** Where it is: objects, documents, vectors, triples, collections, or the name of another store. */
  readonly store: string;
  readonly repository_id?: string;
  readonly collection_id?: string;
  readonly incarnation?: string;
  readonly document_id?: string;
  readonly key?: string;
  readonly detail: string;
  readonly repaired: boolean;
}

/** Findings that a repair skipped, because most of a collection or a store seems missing or unknown. */
export interface RepairRefusal {
  readonly repository_id?: string;
  readonly collection_id?: string;
  readonly incarnation?: string;
  readonly store?: string;
  readonly kinds: readonly FindingKind[];
  readonly detail: string;
}

/** The result of the job of an audit. */
export interface AuditReport {
  readonly began_at: string;
  readonly finished_at: string;
  readonly repair: boolean;
  readonly deep: boolean;
  readonly checked: Readonly<
    Record<
      "repositories" | "collections" | "documents" | "objects" | "passages" | "triples" | "operations" | "lives",
      number
    >
  >;
  readonly summary: Readonly<Partial<Record<FindingKind, { readonly found: number; readonly repaired: number }>>>;
  readonly refused: readonly RepairRefusal[];
  readonly found: number;
  /** Found, and still there. */
  readonly left: number;
  /** Entries that this repair moved to the quarantine. */
  readonly quarantined: number;
  /** May belong to work in progress: checked again after some time. */
  readonly waiting: number;
  readonly findings: readonly Finding[];
  /** There are more findings than these: GET /v1/fsck/{job}/findings has them. */
  readonly truncated: boolean;
}

export const activityFigures = [
  "searches",
  "search_ms",
  "uploads",
  "upload_bytes",
  "documents_indexed",
  "documents_failed",
] as const;
export type ActivityFigure = (typeof activityFigures)[number];

/** Activity of a workspace during one time step. */
export interface ActivityPoint extends Readonly<Record<ActivityFigure, number>> {
  /** Start of the step. */
  readonly at: string;
}
