/** A stream for a client that may stop reading: the buffer is bounded, and if it overflows the stream ends; the client reconnects. */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  { bytesMax, onEnd }: { readonly bytesMax: number; readonly onEnd: () => void },
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let over = false;
  const end = (): void => {
    if (!over) onEnd();
    over = true;
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || over) break;
      controller.enqueue(value);
      if ((controller.desiredSize ?? 0) > 0) continue;
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
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bytesMax }),
  );
}
