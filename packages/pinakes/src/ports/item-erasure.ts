/**
 * ItemErasure: every row of a tenant, whatever its time to live, and its removal without a trace (RFC 0012). Only for erasures: each
 * method wants a tenant's scope of the system's own work.
 *
 * - `walk` returns each row that exists from its first page to its last one at least once, expired ones too;
 * - `remove` and `forget` are idempotent: what does not exist is not counted;
 * - after `forget`, the feed has no entry of these items, deletes included; positions of readers stay valid;
 * - after `scrub` and a later `close`, the engine's own files hold no byte of what was removed before, as far as its report says.
 */
import type { JsonObject } from "../domain/json.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { ItemKey, Partition } from "./item-store.ts";

export interface ItemErasure {
  /** Every container of the store, whether or not this process opened it; ordered by name. */
  containers(): Promise<readonly StoredContainer[]>;
  walk(scope: Scope, container: string, options?: WalkOptions): Promise<WalkPage>;
  /** Returns how many existed. */
  remove(scope: Scope, container: string, keys: readonly ItemKey[]): Promise<number>;
  /** Removes the entries of these items from the change feed; returns how many. */
  forget(scope: Scope, container: string, keys: readonly ItemKey[]): Promise<number>;
  /** Called with expired rows of one tenant before they are purged: what they are needed for has to be kept by then. */
  beforePurge(keep: KeepExpired): void;
  /** Rewrites the engine's files without what was removed. */
  scrub(scope: SystemScope): Promise<ScrubReport>;
}

export type KeepExpired = (tenant: string, container: string, rows: readonly WalkedItem[]) => Promise<void>;

export interface StoredContainer {
  readonly name: string;
  readonly feed: boolean;
}

export interface WalkOptions {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface WalkPage {
  readonly rows: readonly WalkedItem[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
}

export interface WalkedItem {
  readonly partition: Partition;
  readonly id: string;
  readonly etag: string;
  /** Epoch milliseconds of the last change. */
  readonly modifiedAt: number;
  /** Its time to live is over, and its purge has not come yet. */
  readonly expired: boolean;
  readonly document: JsonObject;
}

export interface ScrubReport {
  /** `rewritten`: no byte of what was removed is left in the engine's files. `managed`: the service's own files are out of reach. */
  readonly outcome: "rewritten" | "managed";
  /** Of the engine's files afterwards; null where they are out of reach. */
  readonly bytes: number | null;
}
