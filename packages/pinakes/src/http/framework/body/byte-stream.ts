/**
 * Turns an iterable of bytes into a Response body: one chunk is pulled at a time, and the iterable is closed when the client disconnects.
 */

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
    // No read-ahead: a chunk is produced only when the client needs it.
    { highWaterMark: 0 },
  );
}
