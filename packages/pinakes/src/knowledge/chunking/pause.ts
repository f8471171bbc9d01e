/** Yields to the event loop between the steps of long work, and ends it when the signal aborts. */
import { setImmediate } from "node:timers/promises";

export type Pause = () => Promise<void>;

export function pauses(signal: AbortSignal | undefined): Pause {
  return async function pause() {
    signal?.throwIfAborted();
    await setImmediate();
    signal?.throwIfAborted();
  };
}
