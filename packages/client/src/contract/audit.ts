/** The audit log: who did what. */
import type { Paging } from "./common.ts";

export const auditVerbs = [
  "create",
  "update",
  "delete",
  "restore",
  "purge",
  "export",
  "sign_in",
  "sign_out",
  "read",
  "erase",
] as const;
export type AuditVerb = (typeof auditVerbs)[number];

/**
 * `not_found`: the resource does not exist; `denied` also if it exists but is not visible to the caller. `failed`: the change may have been
 * made.
 */
export const auditOutcomes = ["ok", "denied", "not_found", "failed"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The interface of the call. */
export const auditFaces = [
  "http",
  "mcp",
  "cli",
  "embedded",
  "openai",
  "lisa",
  "trustgraph",
  "catalogs",
  "cosmos",
  "system",
] as const;
export type AuditFace = (typeof auditFaces)[number];

export const auditFormats = ["ndjson", "csv"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/** `id` is null once the subject was erased: nothing leads from the token to it any more. */
export interface AuditSubject {
  readonly token: string;
  readonly id: string | null;
}

export interface AuditEntry {
  /** Its place in the log, from 0. */
  readonly index: number;
  readonly at: string;
  readonly verb: AuditVerb;
  /** Operation, tool or method. */
  readonly action: string;
  readonly outcome: AuditOutcome;
  /** Status of the HTTP response; null if there was none. */
  readonly status: number | null;
  readonly actor: AuditSubject;
  /** The user that the actor acted for. */
  readonly acted_for: AuditSubject | null;
  readonly role: string | null;
  readonly via: string | null;
  readonly key_id: string | null;
  readonly resource: string;
  /** `~…`: of a subject that was erased; `#…`: a keyed hash of an id that callers choose. */
  readonly ids: Readonly<Record<string, string>>;
  readonly face: AuditFace;
  /** Null once the actor was erased. */
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly request_id: string | null;
}

export interface AuditQuery extends Paging {
  /** A user id. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly verb?: AuditVerb | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** A kind of resource, such as `collections`, or an id, such as `kb` or `kb/papers`. */
  readonly resource?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A signed tree head. */
export interface AuditCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
  /** The checkpoint as a signed note (C2SP), for witnesses and verifiers. */
  readonly note: string;
  /** The public keys that signed it. */
  readonly keys: readonly string[];
}

/** Base64 hashes, in the order of RFC 6962. */
export interface AuditInclusion {
  readonly index: number;
  readonly size: number;
  /** The line of JSON whose bytes are the leaf. */
  readonly leaf: string;
  readonly hashes: readonly string[];
}

export interface AuditConsistency {
  readonly from: number;
  readonly size: number;
  readonly hashes: readonly string[];
}

export interface AuditExport {
  readonly format?: AuditFormat | undefined;
  /** Indexes: from this one (0) to before that one (all). */
  readonly first?: number | undefined;
  readonly end?: number | undefined;
}
