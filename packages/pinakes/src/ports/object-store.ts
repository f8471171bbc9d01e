/**
 * ObjectStore: immutable blobs under keys, for what is too large or too plain for an item.
 *
 * Scope. The first argument of every method; a call without one throws. A tenant's scope sees a key space of its own: its key `a/b` is the
 * stored key `t/<tenant>/a/b`, and no key leads outside of it. Another tenant's object answers exactly as if it did not exist. A system
 * scope uses full stored keys and reaches all of them; `forTenant` turns it into an ordinary tenant's scope.
 *
 * Atomicity. An object exists whole or not at all: a put that fails, is aborted or dies with its process leaves the key as it was. A put of
 * an existing key replaces it in one step; a reader that has begun continues with the bytes it began with, or fails, and never gets a
 * mixture. Writers should choose unique keys and leave overwriting to repairs: nothing here merges or orders two puts.
 *
 * Consistency. A resolved put or delete is seen by every get, head and list that begins afterwards.
 *
 * Durability. With `capabilities.durable`, a put or delete resolves only after the bytes and the directory entries are on disk.
 *
 * Idempotence. Repeating a put with the same bytes, or a delete, changes nothing, so after an unknown outcome repeat the call. (Except with
 * `ifAbsent`: there, CONFLICT may be the answer to one's own first try. Compare etags.)
 *
 * Etags. An etag depends on the content alone, so the same bytes have the same etag, whenever and wherever this driver stored them.
 *
 * Order. `list` runs in the byte order of the UTF-8 keys. It is no snapshot, but an unchanged object is listed exactly once.
 *
 * Limits. domain/limits.ts; each is an INVALID or LIMIT_EXCEEDED error, and nothing is written.
 */
import type { Scope, SystemScope } from "../domain/scope.ts";

export interface ObjectStore {
  readonly capabilities: ObjectStoreCapabilities;

  /** Stores an object, replacing any previous one. A stream is read once, with backpressure. */
  put(scope: AnyScope, key: string, body: ObjectBody, options?: PutOptions): Promise<PutResult>;
  /** The bytes, or undefined if there is no such object. For objects that fit into memory; a larger one is LIMIT_EXCEEDED. */
  get(scope: AnyScope, key: string, options?: GetOptions): Promise<Uint8Array | undefined>;
  /** The same as chunks, for objects of any size. Stop early with `break`, which releases the file or connection. */
  stream(scope: AnyScope, key: string, options?: GetOptions): Promise<AsyncIterable<Uint8Array> | undefined>;
  head(scope: AnyScope, key: string, options?: CallOptions): Promise<ObjectHead | undefined>;
  /** The keys that begin with `prefix` (any text, not only whole segments; "" for all). */
  list(scope: AnyScope, prefix: string, options?: ListOptions): Promise<ObjectPage>;
  /** Up to 1,000 keys. Absent ones are fine. Not atomic: after an error some may be deleted; repeat it. */
  delete(scope: AnyScope, keys: readonly string[], options?: CallOptions): Promise<void>;
  /** Waits for running calls. Later calls fail with UNAVAILABLE. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type AnyScope = Scope | SystemScope;

export interface ObjectStoreCapabilities {
  readonly driver: string;
  /** Whether `ifAbsent` works. Some S3-compatible stores ignore it, so nothing may depend on it; without it the option is NOT_SUPPORTED. */
  readonly conditionalPut: boolean;
  /** Whether objects survive the process. */
  readonly durable: boolean;
}

/** The store owns a chunk from the moment it gets it; do not write into it afterwards. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface PutOptions extends CallOptions {
  /** Only if there is no such object; CONFLICT otherwise. */
  readonly ifAbsent?: boolean | undefined;
}

export interface PutResult {
  readonly etag: string;
  readonly bytes: number;
}

export interface GetOptions extends CallOptions {
  readonly range?: ByteRange | undefined;
}

/** Half open, as in Uint8Array.slice: the bytes start ≤ i < end. It may reach or lie beyond the object's end. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface ObjectHead {
  readonly bytes: number;
  readonly etag: string;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
}

export interface ListOptions extends CallOptions {
  /** Only keys after this one, in byte order; it need not exist. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ObjectPage {
  readonly keys: readonly ListedObject[];
  /** Pass it as `after` for the next page; absent at the end. */
  readonly next?: string;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}
