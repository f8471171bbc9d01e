/** Waiting and repeating, by the machine's own time: the injected clock decides what has expired, never how long we wait. */
import { performance } from "node:perf_hooks";

export function monotonicMs(): number {
  return performance.now();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Ends at once when the signal aborts. Returns whether to continue. */
export function idle(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

const backoffMsFirst = 4;
const backoffMsMax = 400;

/** Exponential backoff with full jitter, so that writers that collided do not collide again in step. */
export function backoffMs(attempt: number): number {
  return Math.random() * Math.min(backoffMsMax, backoffMsFirst * 2 ** Math.min(attempt, 10));
}

/** Runs `work` on every element, at most `parallel` at a time. Results keep the order of the elements. */
export async function mapLimited<T, R>(
  elements: readonly T[],
  parallel: number,
  work: (element: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < elements.length) {
      const i = next++;
      results[i] = await work(elements[i] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, elements.length) }, worker));
  return results;
}
