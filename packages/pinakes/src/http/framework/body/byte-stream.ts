/** Bytes for a Response from whatever yields them: pulled one chunk at a time, and let go when the client does. */

export function toBytesStream(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  if (source instanceof ReadableStream) return source;
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onError(error);
          controller.error(error);
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    // Nothing is read ahead: what the client does not take stays where it is.
    { highWaterMark: 0 },
  );
}
