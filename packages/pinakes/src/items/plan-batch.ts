/**
 * What a batch does to the current rows of its partition: the semantics of every write, in one pure function for every engine.
 *
 * Invariants
 * - an expired row counts as absent, and the feed reports its expiry before anything that replaces it;
 * - operations see the effect of those before them in the batch; two on one item are folded into one write with one etag;
 * - a failure yields no writes at all.
 */
import { PinakesError, type ErrorCode } from "../domain/errors.ts";
import { compileFilter, type Filter } from "../domain/filter.ts";
import { withinUtf8Bytes, type JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { patchInPlace, type Mutable, type PatchStep } from "../domain/patch.ts";
import { isExpired } from "../domain/ttl.ts";
import { forTenant, type CompiledContainer } from "./compiled-container.ts";
import type { CommittedOperation, OperationFailure, StoredItem } from "./item-engine.ts";
import { prepareDocument, type PreparedDocument } from "./prepare.ts";

export interface CommitRequest {
  readonly tenant: string;
  readonly pk: string;
  readonly now: number;
  readonly operations: readonly PreparedOperation[];
}

interface Guard {
  readonly id: string;
  readonly idKey: string;
  /** The etag the item gets if this operation writes it. */
  readonly etag: string;
  readonly ifMatch?: string;
  readonly where?: Filter;
}

export type PreparedOperation =
  | (Guard & { readonly op: "create" | "replace" | "upsert"; readonly prepared: PreparedDocument })
  | (Guard & { readonly op: "patch"; readonly patch: readonly PatchStep[] })
  | (Guard & { readonly op: "delete" })
  | (Guard & { readonly op: "check"; readonly exists: boolean })
  /** System operations: delete if present (partition delete), delete if expired (purge). They never fail. */
  | (Guard & { readonly op: "remove" })
  | (Guard & { readonly op: "purge" });

export type BatchPlan =
  | {
      readonly ok: true;
      readonly writes: readonly PlannedWrite[];
      readonly changes: readonly PlannedChange[];
      readonly results: readonly CommittedOperation[];
    }
  | { readonly ok: false; readonly failure: OperationFailure };

/** The net effect on one row. `before` is the row as it was read, expired or not. */
export interface PlannedWrite {
  readonly idKey: string;
  readonly before: StoredItem | undefined;
  readonly put: (PreparedDocument & { readonly etag: string; readonly modifiedAt: number }) | undefined;
  /** The operation to report when a unique key is taken. */
  readonly operation: number;
}

export interface PlannedChange {
  readonly kind: "put" | "delete";
  readonly idKey: string;
  readonly id: string;
  readonly etag: string;
  readonly at: number;
  readonly expired: boolean;
}

/** The ids whose current rows the plan needs. */
export function touchedIds(request: CommitRequest): string[] {
  return [...new Set(request.operations.map(({ idKey }) => idKey))];
}

/**
 * Whether planning needs the stored document, or only its existence. In the second case an engine may leave the text empty: a 50 KB
 * document that is about to be replaced need not be read.
 */
export function needsDocument(operation: PreparedOperation): boolean {
  return (
    operation.op === "patch" ||
    operation.where !== undefined ||
    !withinUtf8Bytes(operation.idKey, limits.idNativeBytesMax)
  );
}

/**
 * A row while the batch works on it. A document is parsed and prepared at most once, however many operations touch it: a hundred patches of
 * one large document must not hold up other commits.
 */
interface Draft {
  readonly before: StoredItem | undefined;
  /** Whether `before` had expired. */
  readonly expired: boolean;
  exists: boolean;
  etag: string | undefined;
  /** The whole document as the last put gave it; undefined if it is the stored one, or was patched since. */
  prepared: PreparedDocument | undefined;
  /** Parsed, and owned by this draft: patches are applied in place, because a failing one ends the whole batch. */
  document: JsonObject | undefined;
  patched: boolean;
  touched: boolean;
  operation: number;
  lastEtag: string;
  id: string;
}

export function planBatch(
  given: CompiledContainer,
  request: CommitRequest,
  current: ReadonlyMap<string, StoredItem>,
): BatchPlan {
  const container = forTenant(given, request.tenant);
  const drafts = new Map<string, Draft>();
  const results: (Draft | undefined)[] = [];
  for (const [index, operation] of request.operations.entries()) {
    let draft = drafts.get(operation.idKey);
    if (draft === undefined) {
      draft = openDraft(container, request, operation, current.get(operation.idKey));
      drafts.set(operation.idKey, draft);
    }
    try {
      apply(container, request, operation, draft, index);
    } catch (error) {
      return { ok: false, failure: asFailure(error, index, draft) };
    }
    results.push(operation.op === "check" ? undefined : draft);
  }
  for (const draft of drafts.values()) {
    try {
      if (draft.patched && draft.document !== undefined)
        draft.prepared = prepareDocument(container, request.tenant, request.pk, draft.document);
    } catch (error) {
      return { ok: false, failure: asFailure(error, draft.operation, draft) };
    }
  }
  return {
    ok: true,
    writes: [...drafts].flatMap(([idKey, draft]) => toWrite(idKey, draft, request.now)),
    changes: [...drafts].flatMap(([idKey, draft]) => toChanges(idKey, draft, request.now)),
    results: request.operations.map((operation, i) => toResult(operation, i, results[i])),
  };
}

function openDraft(
  container: CompiledContainer,
  request: CommitRequest,
  operation: PreparedOperation,
  before: StoredItem | undefined,
): Draft {
  const expired = before !== undefined && isExpired(container.ttl, before.ttl, before.modifiedAt, request.now);
  const live = expired ? undefined : before;
  return {
    before,
    expired,
    exists: live !== undefined,
    etag: live?.etag,
    prepared: undefined,
    document: undefined,
    patched: false,
    touched: false,
    operation: 0,
    lastEtag: operation.etag,
    id: before !== undefined && (operation.op === "purge" || operation.op === "remove") ? idOf(before) : operation.id,
  };
}

/** System operations identify rows by key; only a long id differs from its key. */
export function idOf({ idKey, json }: StoredItem): string {
  return withinUtf8Bytes(idKey, limits.idNativeBytesMax) ? idKey : (JSON.parse(json) as { id: string }).id;
}

function apply(
  container: CompiledContainer,
  request: CommitRequest,
  operation: PreparedOperation,
  draft: Draft,
  index: number,
): void {
  if (operation.op === "purge") {
    if (draft.expired && !draft.exists) touch(draft, operation, index);
    return;
  }
  if (operation.op === "remove") {
    if (draft.exists || draft.expired) write(draft, operation, index, undefined);
    return;
  }
  guard(operation, draft);
  switch (operation.op) {
    case "check":
      return;
    case "create":
    case "replace":
    case "upsert":
      return write(draft, operation, index, currentVersion(container, request, operation.prepared));
    case "patch":
      patchInPlace(documentOf(draft) as Mutable, operation.patch);
      draft.patched = true;
      draft.etag = operation.etag;
      return touch(draft, operation, index);
    case "delete":
      return write(draft, operation, index, undefined);
  }
}

function documentOf(draft: Draft): JsonObject {
  draft.document ??= JSON.parse(draft.prepared?.json ?? (draft.before as StoredItem).json) as JsonObject;
  return draft.document;
}

/** Another process may have added an index since the caller's thread prepared this document. */
function currentVersion(
  container: CompiledContainer,
  request: CommitRequest,
  prepared: PreparedDocument,
): PreparedDocument {
  if (prepared.version === container.version) return prepared;
  return prepareDocument(container, request.tenant, request.pk, JSON.parse(prepared.json) as JsonObject);
}

type Guarded = Exclude<PreparedOperation, { op: "remove" } | { op: "purge" }>;

function guard(operation: Guarded, draft: Draft): void {
  const { exists } = draft;
  const wantsAbsent = operation.op === "create" || (operation.op === "check" && !operation.exists);
  if (wantsAbsent) {
    if (!exists) return;
    if (operation.op === "check")
      throw new PinakesError(
        "PRECONDITION_FAILED",
        `Item "${operation.id}" exists, but the check requires that it is absent.`,
        etagOf(draft),
      );
    throw new PinakesError(
      "CONFLICT",
      `An item with id "${operation.id}" exists in this partition. Use another id, or replace or upsert it.`,
      etagOf(draft),
    );
  }
  if (!exists) {
    if (operation.op === "upsert" && operation.ifMatch === undefined && operation.where === undefined) return;
    if (operation.op === "upsert" || operation.op === "check") {
      throw new PinakesError(
        "PRECONDITION_FAILED",
        `Item "${operation.id}" does not exist, so its condition cannot hold.`,
      );
    }
    throw new PinakesError("NOT_FOUND", `There is no item "${operation.id}" in this partition to ${operation.op}.`);
  }
  if (operation.ifMatch !== undefined && operation.ifMatch !== draft.etag) {
    throw new PinakesError(
      "PRECONDITION_FAILED",
      `Item "${operation.id}" changed since it was read. Read it again and repeat the change; its etag is now "${draft.etag}".`,
      etagOf(draft),
    );
  }
  if (operation.where !== undefined && !compileFilter(operation.where, "where")(documentOf(draft))) {
    throw new PinakesError(
      "PRECONDITION_FAILED",
      `Item "${operation.id}" does not meet the condition; its etag is "${draft.etag}".`,
      etagOf(draft),
    );
  }
}

function etagOf(draft: Draft): { currentEtag?: string } {
  return draft.etag === undefined ? {} : { currentEtag: draft.etag };
}

function write(
  draft: Draft,
  operation: PreparedOperation,
  index: number,
  prepared: PreparedDocument | undefined,
): void {
  draft.prepared = prepared;
  draft.document = undefined;
  draft.patched = false;
  draft.exists = prepared !== undefined;
  draft.etag = prepared === undefined ? undefined : operation.etag;
  touch(draft, operation, index);
}

function touch(draft: Draft, operation: PreparedOperation, index: number): void {
  draft.touched = true;
  draft.operation = index;
  draft.lastEtag = operation.etag;
}

function toWrite(idKey: string, draft: Draft, now: number): PlannedWrite[] {
  if (!draft.touched || (draft.before === undefined && draft.prepared === undefined)) return [];
  const put = draft.prepared === undefined ? undefined : { ...draft.prepared, etag: draft.lastEtag, modifiedAt: now };
  return [{ idKey, before: draft.before, put, operation: draft.operation }];
}

function toChanges(idKey: string, draft: Draft, now: number): PlannedChange[] {
  if (!draft.touched) return [];
  const base = { idKey, id: draft.id, at: now };
  const changes: PlannedChange[] = [];
  if (draft.expired)
    changes.push({ ...base, kind: "delete", etag: expiredEtag(draft.before as StoredItem), expired: true });
  if (draft.prepared !== undefined) changes.push({ ...base, kind: "put", etag: draft.lastEtag, expired: false });
  else if (draft.before !== undefined && !draft.expired)
    changes.push({ ...base, kind: "delete", etag: draft.lastEtag, expired: false });
  return changes;
}

/** The etag of an item's expiry: its last etag plus a character that no etag contains. */
export function expiredEtag({ etag }: StoredItem): string {
  return `${etag}~`;
}

/** The last operation on an item carries the document: a hundred patches must not carry a hundred copies. */
function toResult(operation: PreparedOperation, index: number, draft: Draft | undefined): CommittedOperation {
  if (draft?.etag === undefined || operation.op === "delete") return { id: operation.id };
  const patched =
    operation.op === "patch" && draft.prepared !== undefined && draft.operation === index
      ? { json: draft.prepared.json }
      : {};
  return { id: operation.id, etag: draft.etag, ...patched };
}

/** The reported etag is that of the stored item: nothing the batch did before the failure took effect. */
function asFailure(error: unknown, index: number, { before, expired }: Draft): OperationFailure {
  if (!PinakesError.isInstance(error)) throw error;
  const code: ErrorCode = error.code;
  const told =
    error.context.currentEtag === undefined || before === undefined || expired ? {} : { currentEtag: before.etag };
  return { index, code, detail: error.detail, ...told };
}
