/**
 * The events of an answer, made at their own pace: a reader that is slow keeps neither the call of the model nor the place open. There are
 * few of them, so all are held until they are read. Nothing is made before the first is asked for; leaving ends what is being made.
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
  // Its error is thrown below, behind the events that came before it.
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
