/**
 * A stream for a client that may stop reading. The buffer is bounded: when it is full, the source waits for the client, and if the client
 * reads nothing for `waitMs`, the stream ends; the client reconnects. A burst that is larger than the buffer does not end it.
 */
export interface BoundedStreamOptions {
  readonly bytesMax: number;
  readonly waitMs: number;
  readonly onEnd: () => void;
}

export function boundedStream(
  source: ReadableStream<Uint8Array>,
  { bytesMax, waitMs, onEnd }: BoundedStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let over = false;
  let drained = Promise.withResolvers<true>();
  const end = (): void => {
    if (!over) onEnd();
    over = true;
    drained.resolve(true);
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || over) break;
      controller.enqueue(value);
      if ((controller.desiredSize ?? 0) > 0 || (await within(drained.promise, waitMs))) continue;
      await reader.cancel("the client is not reading");
      break;
    }
    end();
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void pump(controller).catch((error: unknown) => {
          end();
          controller.error(error);
        });
      },
      /** Called when there is room in the buffer. */
      pull() {
        drained.resolve(true);
        drained = Promise.withResolvers<true>();
      },
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bytesMax }),
  );
}

async function within(promise: Promise<true>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
