/**
 * Runs the evaluation of a request in a slot (domain/query-slots.ts): acquired when the first row is requested, released after the last
 * row, on an error, or when the consumer stops.
 *
 * A client that reads slowly, or stops reading, cannot hold slot and memory forever: at the deadline, or when the signal is aborted, the
 * evaluation is stopped.
 */
import type { Request } from "./request.ts";

/** Holds a slot from start to end. */
export async function inPlace<T>(request: Request, run: () => Promise<T>): Promise<T> {
  const place = await request.options.enter?.();
  if (place === undefined) return run();
  request.budget.begin(place);
  try {
    return await run();
  } finally {
    place.leave();
  }
}

/** Holds a slot while the result is read. */
export async function* placed<T>(request: Request, start: () => AsyncGenerator<T>): AsyncGenerator<T> {
  const place = await request.options.enter?.();
  if (place === undefined) {
    yield* start();
    return;
  }
  const { budget, limits, options } = request;
  budget.begin(place);
  const rows = start();
  let ended = false;
  const end = (): void => {
    ended = true;
    // Its resources are released even if that fails; nobody can handle such an error, and nothing is lost.
    const leave = (): void => place.leave();
    rows.return(undefined).then(leave, leave);
  };
  const timer = setTimeout(end, limits.timeoutMs);
  timer.unref();
  options.signal?.addEventListener("abort", end, { once: true });
  try {
    for (let next = await rows.next(); next.done !== true; next = await rows.next()) yield next.value;
    // The deadline passed before the last row: an error, never a truncated result.
    if (ended) budget.stop();
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
    await rows.return(undefined);
    place.leave();
  }
}
