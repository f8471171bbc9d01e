/**
 * Waiting receivers of this process. A wake-up is only a hint to look at once; a receiver that misses it polls anyway.
 *
 * Each key has a number that grows with every wake-up. A receiver notes it before it looks and passes it to `wait`, so that it does not
 * sleep through a message sent while it was looking.
 */
import { PinakesError } from "../domain/errors.ts";
import { queueLimits } from "./queue-limits.ts";

interface Channel {
  version: number;
  waiters: Set<() => void>;
  /** Number of receive calls that use it; without any it is deleted. */
  users: number;
}

export class WakeUps {
  readonly #channels = new Map<string, Channel>();
  #users = 0;

  /** For the duration of one receive call. */
  join(key: string): {
    version(): number;
    wait(seen: number, ms: number, signal: AbortSignal): Promise<void>;
    leave(): void;
  } {
    if (this.#users >= queueLimits.waitersMax) {
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `More than ${queueLimits.waitersMax} receivers wait in this process. Use fewer, with a larger \`max\`.`,
      );
    }
    const channel = this.#channels.get(key) ?? { version: 0, waiters: new Set(), users: 0 };
    this.#channels.set(key, channel);
    channel.users += 1;
    this.#users += 1;
    return {
      version: () => channel.version,
      wait: (seen, ms, signal) => (channel.version === seen ? sleep(channel.waiters, ms, signal) : Promise.resolve()),
      leave: () => {
        this.#users -= 1;
        channel.users -= 1;
        if (channel.users === 0) this.#channels.delete(key);
      },
    };
  }

  wake(key: string): void {
    const channel = this.#channels.get(key);
    if (channel === undefined) return;
    channel.version += 1;
    for (const end of channel.waiters) end();
  }
}

function sleep(waiters: Set<() => void>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      waiters.delete(end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    waiters.add(end);
  });
}
