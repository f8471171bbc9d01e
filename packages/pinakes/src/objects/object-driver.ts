/**
 * ObjectDriver: the small part of an object store that differs between engines. `create-object-store.ts` makes an ObjectStore
 * of it: scope, key checks, limits, abort and close are there, once, for every driver.
 *
 * A driver gets stored keys (`t/<tenant>/…`), already checked, and keeps the port's promises on atomicity, durability, order and etags.
 * `chunks` may throw at any point (a broken source, a limit, an abort): the driver then leaves the key as it was and rethrows.
 */
import { PinakesError } from "../domain/errors.ts";
import type { ByteRange, ListedObject, ObjectHead, ObjectStoreCapabilities, PutResult } from "../ports/object-store.ts";

export interface ObjectDriver {
  readonly capabilities: ObjectStoreCapabilities;
  put(key: string, chunks: AsyncIterable<Uint8Array>, options: DriverPutOptions): Promise<PutResult>;
  /** Throws `objectTooLarge` if the range has more than `bytesMax`. */
  get(key: string, range: ByteRange, bytesMax: number, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Opens nothing until the first chunk is requested, so that an unread stream costs nothing. */
  stream(key: string, range: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined>;
  /** Up to `limit` objects, in byte order. */
  list(request: DriverListRequest): Promise<readonly ListedObject[]>;
  delete(keys: readonly string[], signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface DriverPutOptions {
  readonly ifAbsent: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface DriverListRequest {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

export function objectTooLarge(bytes: number, bytesMax: number): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `The object (or range) has ${bytes} bytes; get() reads at most ${bytesMax}. Use stream(), or a smaller range.`,
  );
}

export function objectExists(key: string): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `The object ${JSON.stringify(key)} already exists, and ifAbsent only creates. Use another key, or put without ifAbsent.`,
  );
}
