/**
 * Decouples the events of an answer from the reader: a slow reader holds neither the model call nor the slot open. There are few events, so
 * all are buffered until they are read. Production starts with the first read; leaving the loop stops it.
 */
export async function* ahead<Event>(
  make: (signal: AbortSignal) => AsyncIterable<Event>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, void> {
  const left = new AbortController();
  const waiting: Event[] = [];
  let next = Promise.withResolvers<void>();
  const made = (async () => {
    for await (const event of make(signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]))) {
      waiting.push(event);
      next.resolve();
    }
  })();
  let over = false;
  const end = (): void => {
    over = true;
    next.resolve();
  };
  // Its error is thrown below, after the events that came before it.
  made.then(end, end);
  try {
    while (!over || waiting.length > 0) {
      const event = waiting.shift();
      if (event === undefined) {
        await next.promise;
        next = Promise.withResolvers();
      } else yield event;
    }
    await made;
  } finally {
    left.abort();
    await made.catch(() => {});
  }
}
