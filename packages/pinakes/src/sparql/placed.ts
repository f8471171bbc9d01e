/**
 * A request's evaluation in its place (domain/query-slots.ts): taken when the first row is asked for, given back with the last, with an
 * error, or when nobody wants more.
 *
 * Whoever asks for rows and then never again, a client that reads slowly or not at all, keeps neither place nor memory for ever: when the
 * request's time is over, or its signal says so, the evaluation ends where it stands.
 */
import type { Request } from "./request.ts";

/** In a place from beginning to end. */
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

/** In a place while it is read. */
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
    // What it holds is given back where it stands; an error of that has nobody to go to, and nothing is lost by it.
    const leave = (): void => place.leave();
    rows.return(undefined).then(leave, leave);
  };
  const timer = setTimeout(end, limits.timeoutMs);
  timer.unref();
  options.signal?.addEventListener("abort", end, { once: true });
  try {
    for (let next = await rows.next(); next.done !== true; next = await rows.next()) yield next.value;
    // It is not the end of the rows, but of the time: never a shorter answer.
    if (ended) budget.stop();
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
    await rows.return(undefined);
    place.leave();
  }
}
