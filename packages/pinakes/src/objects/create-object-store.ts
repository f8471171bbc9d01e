/**
 * An ObjectStore over any ObjectDriver. It does everything that must be the same on every driver: scope first, keys checked and prefixed
 * with their tenant, limits, abort, close. Drivers only store bytes.
 */
import { invalid, PinakesError } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import { limits } from "../domain/limits.ts";
import type * as port from "../ports/object-store.ts";
import type { ObjectBody } from "../ports/object-store.ts";
import { RunningCalls } from "../runtime/running-calls.ts";
import type { ObjectDriver } from "./object-driver.ts";
import { keySpaceOf, storedAfter, storedKey, storedPrefix } from "./object-key.ts";

export function createObjectStore(driver: ObjectDriver): port.ObjectStore {
  return new DriverObjectStore(driver);
}

class DriverObjectStore implements port.ObjectStore {
  readonly capabilities: port.ObjectStoreCapabilities;
  readonly #driver: ObjectDriver;
  readonly #running = new RunningCalls();
  #closing: Promise<void> | undefined;

  constructor(driver: ObjectDriver) {
    this.capabilities = Object.freeze({ ...driver.capabilities });
    this.#driver = driver;
  }

  async put(
    scope: port.AnyScope,
    key: string,
    body: port.ObjectBody,
    options: port.PutOptions = {},
  ): Promise<port.PutResult> {
    const stored = storedKey(keySpaceOf(scope), key);
    const { signal, ifAbsent = false } = options;
    if (ifAbsent && !this.capabilities.conditionalPut) {
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The ${this.capabilities.driver} object store does not support ifAbsent; use a unique key instead.`,
      );
    }
    const chunks = checkedBody(body, signal);
    return this.#run(signal, () => this.#driver.put(stored, chunks, { ifAbsent, ...withSignal(signal) }));
  }

  async get(scope: port.AnyScope, key: string, options: port.GetOptions = {}): Promise<Uint8Array | undefined> {
    const stored = storedKey(keySpaceOf(scope), key);
    const range = checkRange(options.range);
    const bytes = await this.#run(options.signal, () =>
      this.#driver.get(stored, range, limits.objectGetBytesMax, options.signal),
    );
    invariant(
      bytes === undefined || bytes.byteLength <= (range.end ?? Infinity) - range.start,
      "INTERNAL",
      "the driver returned more bytes than the range has",
    );
    return bytes;
  }

  async stream(
    scope: port.AnyScope,
    key: string,
    options: port.GetOptions = {},
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const stored = storedKey(keySpaceOf(scope), key);
    const range = checkRange(options.range);
    return this.#run(options.signal, () => this.#driver.stream(stored, range, options.signal));
  }

  async head(scope: port.AnyScope, key: string, options: port.CallOptions = {}): Promise<port.ObjectHead | undefined> {
    const stored = storedKey(keySpaceOf(scope), key);
    return this.#run(options.signal, () => this.#driver.head(stored, options.signal));
  }

  async list(scope: port.AnyScope, prefix: string, options: port.ListOptions = {}): Promise<port.ObjectPage> {
    const space = keySpaceOf(scope);
    const stored = storedPrefix(space, prefix);
    const after = options.after === undefined ? undefined : storedAfter(space, options.after);
    const limit = checkLimit(options.limit);
    // One more than requested tells whether there is a next page.
    const request = { prefix: stored, after, limit: limit + 1, ...withSignal(options.signal) };
    const found = await this.#run(options.signal, () => this.#driver.list(request));
    const keys = found.slice(0, limit).map((entry) => {
      invariant(entry.key.startsWith(stored), "INTERNAL", "the driver listed a key outside the prefix");
      return { ...entry, key: entry.key.slice(space.prefix.length) };
    });
    const last = keys.at(-1);
    return found.length > limit && last !== undefined ? { keys, next: last.key } : { keys };
  }

  async delete(scope: port.AnyScope, keys: readonly string[], options: port.CallOptions = {}): Promise<void> {
    const space = keySpaceOf(scope);
    if (!Array.isArray(keys) || keys.length > limits.objectDeleteKeysMax) {
      throw invalid(
        `keys: must be a list of at most ${limits.objectDeleteKeysMax} keys; delete more in several calls.`,
      );
    }
    const stored = [...new Set(keys.map((key: string) => storedKey(space, key)))];
    await this.#run(options.signal, () => this.#driver.delete(stored, options.signal));
  }

  async close(): Promise<void> {
    this.#closing ??= this.#running.settled().then(() => this.#driver.close());
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined)
      throw new PinakesError("UNAVAILABLE", "The object store is closed.", { retryable: false });
    signal?.throwIfAborted();
    return this.#running.run(call);
  }
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function checkRange(range: port.ByteRange | undefined): port.ByteRange {
  if (range === undefined) return { start: 0 };
  const { start, end } = range;
  const fits = (value: number) => Number.isSafeInteger(value) && value >= 0;
  if (fits(start) && (end === undefined || (fits(end) && end >= start)))
    return end === undefined ? { start } : { start, end };
  throw invalid(`range: needs whole numbers 0 ≤ start ≤ end, got ${JSON.stringify(range)}.`);
}

function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return limits.objectListKeysMax;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.objectListKeysMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${limits.objectListKeysMax}, got ${JSON.stringify(limit)}.`);
}

/** The body of a put as a checked stream: right chunk type, a size limit, and an abort that does not wait for a stuck source. */
function checkedBody(body: ObjectBody, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) return checkedChunks([body], signal);
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body) return checkedChunks(body, signal);
  throw invalid(
    "body: must be a Uint8Array or an async iterable of them. Encode text first: new TextEncoder().encode(text).",
  );
}

async function* checkedChunks(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of abortable(source, signal)) {
    if (!(chunk instanceof Uint8Array)) throw invalid(`body: each chunk must be a Uint8Array, got ${typeof chunk}.`);
    bytes += chunk.byteLength;
    if (bytes > limits.objectBytesMax) {
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `body: more than ${limits.objectBytesMax} bytes; split it into several objects.`,
      );
    }
    if (chunk.byteLength > 0) yield chunk;
  }
}

/** Fails with the signal's reason as soon as it is aborted, even while the source is silent. */
async function* abortable<T>(
  source: Iterable<T> | AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  if (signal === undefined) {
    yield* source;
    return;
  }
  signal.throwIfAborted();
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {}); // The race handles it; this prevents an unhandled rejection.
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      const result = await Promise.race([iterator.next(), aborted.promise]);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a generator's return() waits behind the very next() that may be stuck. It only lets the source clean up.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
