/** Lets others run between the steps of long work, and ends it when nobody waits for it any more. */
import { setImmediate } from "node:timers/promises";

export type Pause = () => Promise<void>;

export function pauses(signal: AbortSignal | undefined): Pause {
  return async function pause() {
    signal?.throwIfAborted();
    await setImmediate();
    signal?.throwIfAborted();
  };
}
