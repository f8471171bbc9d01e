/**
 * ItemEngine: the small part of an item store that differs from engine to engine. `items/create-item-store.ts` makes an ItemStore
 * of it: scope, validation, planning, time to live, cursors and tokens are there, once, for every engine.
 *
 * What an engine promises:
 * - `commit` runs `planBatch` on the current rows of one partition and applies the plan, serialised against every other commit on
 *   that partition (a lock, a single writer, or optimistic conditions with retry), durable before it resolves;
 * - `read` and a scan of a partition see every commit that resolved before they began;
 * - rows of another tenant cannot be reached: `pk` and every index key begin with the tenant;
 * - the feed lists every commit exactly once, in commit order within a partition.
 */
import { PinakesError, type ErrorCode } from "../domain/errors.ts";
import type { CompiledContainer, NormalDefinition } from "./compiled-container.ts";
import type { Prefilter } from "../domain/prefilter.ts";
import type { CommitRequest } from "./plan-batch.ts";
import type { ScrubReport } from "../ports/item-erasure.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../ports/item-store.ts";

export interface ItemEngine {
  readonly capabilities: ItemStoreCapabilities;
  /** Stored by the engine, so that cursors and tokens stay valid across processes and restarts. */
  signingKey(): Promise<Uint8Array>;
  openContainer(definition: NormalDefinition, options: OpenContainerOptions): Promise<void>;
  /**
   * The container as the engine knows it; undefined if it was never opened. Another process may have changed it: with `fresh` an engine
   * that can check cheaply does so.
   */
  container(name: string, fresh?: boolean): CompiledContainer | undefined;
  indexes(container: CompiledContainer): Promise<readonly IndexStatus[]>;

  read(container: CompiledContainer, key: StoredKey): StoredItem | undefined | Promise<StoredItem | undefined>;
  readRaw(container: CompiledContainer, key: StoredKey): StoredRawItem | undefined | Promise<StoredRawItem | undefined>;
  readMany(container: CompiledContainer, keys: readonly StoredKey[]): Promise<readonly (StoredItem | undefined)[]>;
  commit(container: CompiledContainer, request: CommitRequest): Promise<CommitOutcome>;
  /** Visible rows in key order, at most `limit`, ending early once `bytesMax` is passed. An index that is still building is rejected. */
  scan(container: CompiledContainer, request: ScanRequest): Promise<ScanResult>;
  count(container: CompiledContainer, range: ScanRange, now: number): Promise<number>;
  changes(container: CompiledContainer, request: FeedRequest): Promise<FeedPage>;
  /** Expired rows by the container's time to live, of any tenant or of those named; oldest first as far as the engine can tell. */
  expired(
    container: CompiledContainer,
    now: number,
    limit: number,
    tenants?: TenantFilter,
  ): Promise<readonly StoredKey[]>;
  /**
   * Removes up to `limit` feed entries made before `before`. A feed position older than the oldest entry is rejected, never silently moved.
   */
  trimFeed(container: CompiledContainer, before: number, limit: number): Promise<number>;
  /** For every container, opened or not. */
  definitions(): Promise<readonly NormalDefinition[]>;
  /**
   * Rows in the engine's own order, expired ones too, with their full pk: of all tenants, or of one. A page may be empty and still have a
   * cursor, which is a position in that order.
   */
  dump(
    container: string,
    cursor: string | undefined,
    limit: number,
    tenant?: string,
  ): Promise<{ readonly rows: readonly StoredItem[]; readonly cursor?: string | undefined }>;
  /** Removes the feed's entries of these items; positions of readers stay valid. Returns how many it removed. */
  forgetFeed(container: CompiledContainer, tenant: string, keys: readonly StoredKey[]): Promise<number>;
  /** Rewrites the engine's files without deleted data. */
  scrub(): Promise<ScrubReport>;
  /** Where index reads are eventual: resolves once the index shows these writes, fails with UNAVAILABLE on timeout. */
  awaitIndex?(container: CompiledContainer, index: string, keys: readonly StoredKey[]): Promise<void>;
  close(): Promise<void>;
}

/** What `scan` and `count` throw for an incomplete index: a partial answer would be wrong. */
export function indexBuilding(container: string, index: string, progress: number): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    `Index "${index}" of container "${container}" is being built (${Math.floor(progress * 100)} %). Try again shortly; the other indexes answer meanwhile.`,
  );
}

/** What `changes` throws if entries after the given position were trimmed: continuing would skip them. */
export function feedTrimmed(container: string): PinakesError {
  return new PinakesError(
    "PRECONDITION_FAILED",
    `The feed cursor of container "${container}" is older than the retained changes. Read the container in full, then follow the feed from "now".`,
  );
}

/** What `scan` and `count` throw if the definition changed between planning and reading. */
export function definitionChanged(container: string): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    `Container "${container}" has just been changed by another process. Repeat the call.`,
  );
}

/** Only the tenants of the list, or all others. */
export interface TenantFilter {
  readonly list: readonly string[];
  readonly included: boolean;
}

/** The texts between which all `pk` of a tenant are: lower ≤ pk < upper. */
export function tenantRange(tenant: string): readonly [string, string] {
  const start = JSON.stringify([tenant]).slice(0, -1);
  // "-" is the character after ",", which follows the tenant in every pk.
  return [`${start},`, `${start}-`];
}

export interface StoredKey {
  /** JSON text of [tenant, ...partition values]. */
  readonly pk: string;
  readonly idKey: string;
}

export interface StoredItem extends StoredKey {
  readonly etag: string;
  readonly modifiedAt: number;
  readonly ttl: number | null;
  readonly json: string;
}

export interface StoredRawItem {
  readonly etag: string;
  readonly modifiedAt: number;
  readonly ttl: number | null;
  readonly bytes: Uint8Array;
}

/** For engines that hold the document as text. */
export function asRawItem(stored: StoredItem | undefined): StoredRawItem | undefined {
  if (stored === undefined) return undefined;
  const { etag, modifiedAt, ttl, json } = stored;
  return { etag, modifiedAt, ttl, bytes: Buffer.from(json, "utf8") };
}

export type CommitOutcome =
  | { readonly ok: true; readonly results: readonly CommittedOperation[] }
  | { readonly ok: false; readonly failure: OperationFailure };

export interface CommittedOperation {
  readonly id: string;
  readonly etag?: string;
  /** The document after a patch, with the last operation on its item. */
  readonly json?: string;
}

export interface OperationFailure {
  readonly index: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly currentEtag?: string;
}

/** Half open: lower ≤ key < upper. */
export type ScanRange =
  | { readonly kind: "partition"; readonly pk: string; readonly lower: string; readonly upper: string | undefined }
  | {
      readonly kind: "index";
      readonly index: string;
      readonly partition: Uint8Array;
      readonly lower: Uint8Array;
      readonly upper: Uint8Array;
    };

export interface ScanRequest {
  readonly range: ScanRange;
  readonly reverse: boolean;
  readonly limit: number;
  readonly bytesMax: number;
  readonly now: number;
  /**
   * An engine may leave out rows for which this is certainly false, so that their documents are neither sent nor parsed. It then examines
   * at most `limit` rows, those left out included, and reports how many and where it stopped. So a page's row budget holds whatever the
   * filter, and no statement runs on through a range in which nothing matches.
   */
  readonly prefilter?: Prefilter | undefined;
}

export interface ScanResult {
  readonly rows: readonly ScanRow[];
  /** True if the range holds no more rows after these. */
  readonly done: boolean;
  /** If rows were left out: how many were examined, and the sort key or id of the last of them. */
  readonly looked?: { readonly rows: number; readonly position: string };
}

export interface ScanRow extends StoredItem {
  /** The row's sort key in the scanned index (hex): where a cursor resumes. Absent in a partition scan, which resumes at the id. */
  readonly sortKey?: string;
}

export interface FeedRequest {
  readonly tenant: string;
  /** A position from an earlier page; undefined: from the oldest; "now": only what comes after this call. */
  readonly position: string | undefined;
  readonly limit: number;
}

export interface FeedPage {
  readonly changes: readonly FeedChange[];
  readonly position: string;
  readonly more: boolean;
}

export interface FeedChange {
  readonly kind: "put" | "delete";
  readonly pk: string;
  readonly idKey: string;
  readonly id: string;
  readonly etag: string;
  readonly at: number;
  readonly expired: boolean;
}
