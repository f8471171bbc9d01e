/** Erasures with their receipts, and legal holds. */
import type { JsonObject } from "../json.ts";

export const erasureSubjectTypes = ["workspace", "user", "agent", "session", "documents"] as const;
export type ErasureSubjectType = (typeof erasureSubjectTypes)[number];

/** `documents` are named by repository, collection and ids; every other subject by its id. */
export interface ErasureSubject {
  readonly type: ErasureSubjectType;
  readonly id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly collection_id?: string | undefined;
  readonly document_ids?: readonly string[] | undefined;
}

export interface NewErasure {
  readonly subject: ErasureSubject;
  /** Only count; nothing changes. */
  readonly dry_run?: boolean | undefined;
  /** More paths that name the subject, such as `author.id`; in every container. */
  readonly paths?: readonly string[] | undefined;
  /** Other workspaces to erase the subject in; only with the root token. Default: the caller's own. */
  readonly workspaces?: readonly string[] | undefined;
  /** Rewrite the engine's files. When absent: on SQLite yes, on PostgreSQL no, because it locks each table. */
  readonly scrub?: boolean | undefined;
}

/** `done_live`: nothing is left in the live stores. `held`: only data under a legal hold is left. `counted`: a dry run. */
export const erasureStates = [
  "received",
  "scanning",
  "executing",
  "verifying",
  "held",
  "done_live",
  "counted",
] as const;
export type ErasureState = (typeof erasureStates)[number];

export interface ErasureStore {
  readonly store: string;
  /** Rows, files or triples that name the subject, as the first scan counted them. */
  readonly found: number;
  readonly deleted: number;
  readonly redacted: number;
  readonly anonymised: number;
  readonly held: number;
  /** At the last count; null before it. Held ones are not in it. */
  readonly remaining: number | null;
}

export interface Erasure {
  readonly erasure_id: string;
  readonly workspace_id: string;
  readonly workspaces: readonly string[];
  readonly state: ErasureState;
  /** The id only as a keyed hash. */
  readonly subject: { readonly type: ErasureSubjectType; readonly hmac: string };
  readonly dry_run: boolean;
  readonly stores: readonly ErasureStore[];
  /** Ids of the holds that prevent part of the erasure. */
  readonly holds: readonly string[];
  readonly attempts: number;
  /** Why the last attempt ended; null otherwise. */
  readonly error: string | null;
  readonly receipt_id: string | null;
  readonly last_backup_expires_at: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
}

export interface ErasureReceipt {
  readonly receipt_id: string;
  readonly erasure_id: string;
  readonly sequence: number;
  /** A compact JWS, signed with Ed25519. */
  readonly jws: string;
  /** For reading; only the JWS is signed. */
  readonly content: JsonObject;
  /** SPKI in PEM. */
  readonly public_key: string;
}

/** The key that verifies the receipts of an instance. */
export interface ErasureReceiptKey {
  /** As named in receipts. */
  readonly key_id: string;
  /** SPKI in PEM. */
  readonly public_key: string;
}

export interface ErasureVerification {
  readonly erasure_id: string;
  /** Counted now; 0 everywhere if nothing reappeared. The erasure no longer stores the subject's id, so it must be passed in. */
  readonly remaining: number;
  readonly stores: readonly { readonly store: string; readonly remaining: number }[];
  readonly receipt: { readonly valid: boolean; readonly reason: string | null };
}

export const holdScopeTypes = ["workspace", "user", "agent", "session", "collection", "query"] as const;
export type HoldScopeType = (typeof holdScopeTypes)[number];

export interface HoldScope {
  readonly type: HoldScopeType;
  /** For a user, an agent or a session. */
  readonly id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly collection_id?: string | undefined;
  /** For a query: the container, and a filter on its documents. */
  readonly container?: string | undefined;
  readonly filter?: JsonObject | undefined;
}

export interface NewLegalHold {
  readonly scope: HoldScope;
  readonly reason: string;
}

export interface LegalHold {
  readonly hold_id: string;
  readonly workspace_id: string;
  readonly scope: HoldScope;
  readonly reason: string;
  /** Number of rows that it matched at creation. */
  readonly matched: number;
  readonly created_by: string;
  readonly created_at: string;
}

export const retentionKinds = ["container", "trash", "setting"] as const;
export type RetentionKind = (typeof retentionKinds)[number];

/** How long something is kept in this workspace. */
export interface RetentionRule {
  /** A container, `trash`, or what a setting of the operator governs. */
  readonly name: string;
  readonly kind: RetentionKind;
  /** From the last change, or for the trash from the deletion. -1: only documents with a `ttl` of their own expire. Null: never. */
  readonly seconds: number | null;
  readonly default_seconds: number | null;
  /** What expires together. */
  readonly unit: string;
  readonly changeable: boolean;
  /** The operator's setting that governs it; null where the API does. */
  readonly setting: string | null;
}

export interface RetentionChange {
  readonly seconds: number | null;
  /** Of a preview of this change; needed where it shortens a lifetime. */
  readonly confirmation?: string | undefined;
}

export interface RetentionPreview {
  readonly name: string;
  readonly seconds: number | null;
  readonly current_seconds: number | null;
  /** Documents that would expire at once. */
  readonly would_expire: number;
  /** Those of them that a legal hold keeps. */
  readonly held: number;
  /** Documents without a `ttl` of their own that stay for now. */
  readonly would_stay: number;
  /** Ids of documents that would expire; at most ten. */
  readonly examples: readonly string[];
  /** Valid for an hour, for this change only. */
  readonly confirmation: string;
}

/** Everything stored about a subject, as zip archives that can be downloaded for a few days. */
export interface NewSubjectExport {
  readonly subject: ErasureSubject;
  /** More paths that name the subject, as for an erasure. */
  readonly paths?: readonly string[] | undefined;
}

export const subjectExportStates = ["queued", "running", "ready", "failed"] as const;
export type SubjectExportState = (typeof subjectExportStates)[number];

export interface SubjectExportPart {
  /** Counted from 1. */
  readonly part: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly files: number;
}

export interface SubjectExport {
  readonly export_id: string;
  readonly workspace_id: string;
  readonly subject: { readonly type: ErasureSubjectType; readonly id: string };
  readonly state: SubjectExportState;
  readonly error: string | null;
  /** Empty until it is ready. The last file of the last part is `manifest.json`, with the hash of every other file. */
  readonly parts: readonly SubjectExportPart[];
  /** Rows of the subject, and rows of others that mention it, by container. */
  readonly rows: readonly { readonly store: string; readonly own: number; readonly mentions: number }[];
  readonly created_by: string;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** Then it is removed. */
  readonly expires_at: string;
}
