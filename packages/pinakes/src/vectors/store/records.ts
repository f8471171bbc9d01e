/** The documents of a collection's partition (RFC 0001, "Items"). Each also has `collection`, the partition key, and `v`. */
import type { ContainerDefinition } from "../../ports/item-store.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { FileRef } from "../segment/file-format.ts";
import type { Manifest } from "./manifest.ts";

export const vectorsContainer: ContainerDefinition = Object.freeze({
  name: "vectors",
  partitionKey: ["collection"],
  ttl: -1,
  // Only fences have a kind: the index lists a tenant's collections.
  indexes: { collections: { partition: ["kind"], sort: ["collection"] } },
});

export type Status = "active" | "trashed" | "purging" | "deleted" | "diverged";

export interface Fence {
  readonly kind: "fence";
  readonly status: Status;
  readonly settings: CollectionSettings;
  readonly createdAt: number;
  /** Of a trashed collection: when its bytes are removed. */
  readonly purgeAt?: number;
  /** Why it is diverged. */
  readonly reason?: string;
}

export interface Log {
  readonly nextSeq: number;
  readonly logId: string;
  /** Changed by every garbage collection: a writer that began before must put its object again. */
  readonly generation: number;
  /** Changed whenever the compactor has reported that nothing is pending: a writer that registered before must do so again. */
  readonly rests: number;
  /** The version of the last restore. An older head does not belong to this log: its pending deltas were discarded. */
  readonly restored: number;
  /** True implies an entry in the work registry. */
  readonly dirty: boolean;
  /** Of all deltas ever committed. */
  readonly bytes: number;
}

export interface Head {
  readonly version: number;
  readonly commitId: string;
  readonly appliedSeq: number;
  /** Of all deltas applied, dead or discarded: log.bytes − appliedBytes are pending. */
  readonly appliedBytes: number;
  readonly key: string;
  readonly sha256: string;
  readonly committedAt: number;
}

export interface Lease {
  readonly owner: string | null;
  readonly epoch: number;
  readonly beat: number;
}

export interface Delta extends FileRef {
  readonly seq: number;
  readonly deltaId: string;
  readonly contentHash: string;
  readonly rows: number;
  readonly committedAt: number;
  readonly failures: number;
  readonly error?: string;
}

export interface DeltaId {
  readonly seq: number;
  readonly contentHash: string;
}

export interface HistoryEntry {
  readonly manifest: Manifest;
  readonly key: string;
  readonly sha256: string;
  readonly committedAt: number;
}

export interface DeadRequest {
  readonly seq: number;
  readonly action: "redrive" | "discard";
  /** So that settling one does not remove another that came after it. */
  readonly nonce: string;
}

export const itemIds = Object.freeze({
  fence: "fence",
  log: "log",
  head: "head",
  lease: "lease",
  delta: (seq: number) => `delta.${padded(seq)}`,
  deltaId: (deltaId: string) => `id.${deltaId}`,
  history: (version: number) => `history.${padded(version)}`,
  request: (seq: number) => `request.${padded(seq)}`,
});

/** 16 digits hold every safe integer, so that ids sort as numbers. */
function padded(value: number): string {
  return String(value).padStart(16, "0");
}
