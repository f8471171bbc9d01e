/** Waits that end early when they are no longer needed. */

const backoffMsFirst = 100;
const backoffMsMax = 5_000;

/** Full jitter: many clients that failed together do not come back together. */
export function backoffMs(attempt: number, first: number = backoffMsFirst, max: number = backoffMsMax): number {
  return Math.random() * Math.min(max, first * 2 ** attempt);
}

/** Before another attempt: at least as long as the server asks, and not together with everybody else whom it asked. */
export function retryPauseMs(attempt: number, askedMs: number | undefined): number {
  return (askedMs ?? 0) + backoffMs(attempt);
}

/** Rejects with the reason of the signal. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  const stop = (): void => over.reject(signal?.reason as Error);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    await over.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

const pollMsFirst = 50;
const pollMsMax = 2_000;

/** Polls a state until it is final, with growing pauses: short work is detected quickly, long work is polled rarely. */
export async function polled<State>(
  read: () => Promise<State>,
  signal: AbortSignal | undefined,
  isOver: (state: State) => boolean,
): Promise<State> {
  for (let pauseMs = pollMsFirst; ; pauseMs = Math.min(pauseMs * 1.5, pollMsMax)) {
    signal?.throwIfAborted();
    const state = await read();
    if (isOver(state)) return state;
    await sleep(pauseMs, signal);
  }
}
