/** The body of a put as a checked stream: right chunk type, a size limit, and an abort that does not wait for a stuck source. */
import { PinakesError, invalid } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import type { ObjectBody } from "../ports/object-store.ts";

export function checkedBody(body: ObjectBody, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
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
