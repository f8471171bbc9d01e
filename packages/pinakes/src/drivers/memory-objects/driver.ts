/** Objects in memory, lost when the process ends: for tests, and as the simplest implementation of the port. */
import { createHash } from "node:crypto";
import { compareUtf8 } from "../../domain/json.ts";
import { compareKeys } from "../../objects/object-key.ts";
import {
  objectExists,
  objectTooLarge,
  type DriverListRequest,
  type DriverPutOptions,
  type ObjectDriver,
} from "../../objects/object-driver.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  ByteRange,
  ListedObject,
  ObjectHead,
  ObjectStoreCapabilities,
  PutResult,
} from "../../ports/object-store.ts";

interface StoredObject {
  readonly content: Uint8Array;
  readonly etag: string;
  readonly modifiedAt: number;
}

const chunkBytes = 1_048_576;

export class MemoryObjectDriver implements ObjectDriver {
  readonly capabilities: ObjectStoreCapabilities = { driver: "memory", conditionalPut: true, durable: false };
  readonly #objects = new Map<string, StoredObject>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async put(
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    { ifAbsent, signal }: DriverPutOptions,
  ): Promise<PutResult> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    signal?.throwIfAborted();
    if (ifAbsent && this.#objects.has(key)) throw objectExists(key);
    const content = Buffer.concat(parts);
    const etag = createHash("sha256").update(content).digest("hex").slice(0, 32);
    this.#objects.set(key, { content, etag, modifiedAt: this.#clock.now() });
    return { etag, bytes: content.byteLength };
  }

  async get(key: string, { start, end }: ByteRange, bytesMax: number): Promise<Uint8Array | undefined> {
    const part = this.#objects.get(key)?.content.subarray(start, end);
    if (part === undefined) return undefined;
    if (part.byteLength > bytesMax) throw objectTooLarge(part.byteLength, bytesMax);
    return new Uint8Array(part);
  }

  async stream(
    key: string,
    { start, end }: ByteRange,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const part = this.#objects.get(key)?.content.subarray(start, end);
    return part === undefined ? undefined : chunksOf(part, signal);
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const stored = this.#objects.get(key);
    return stored === undefined
      ? undefined
      : { bytes: stored.content.byteLength, etag: stored.etag, modifiedAt: stored.modifiedAt };
  }

  async list({ prefix, after, limit }: DriverListRequest): Promise<readonly ListedObject[]> {
    return [...this.#objects]
      .filter(([key]) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
      .map(([key, { content, modifiedAt }]) => ({ key, bytes: content.byteLength, modifiedAt }))
      .sort(compareKeys)
      .slice(0, limit);
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#objects.delete(key);
  }

  async close(): Promise<void> {
    this.#objects.clear();
  }
}

async function* chunksOf(content: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < content.byteLength; start += chunkBytes) {
    signal?.throwIfAborted();
    yield new Uint8Array(content.subarray(start, start + chunkBytes));
  }
}
