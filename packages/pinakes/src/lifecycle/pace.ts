/**
 * Limits the rate of deletes, so that they do not slow readers of other collections. All stores of a process share one pace: each step gets
 * a slot three times as long as the previous step took, and slots are consecutive, so two thirds of the time remain free. A slot that was
 * too short or too long is compensated by the next one. Only after a very long step is less time free: the rest after it is bounded.
 * Nothing is held while a step runs: a store that hangs does not block others.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import { lifecycleLimits } from "./limits.ts";

const slotSteps = 3;
const restSteps = slotSteps - 1;

type Pause = (ms: number, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export class Pace {
  readonly #clock: Clock;
  readonly #pause: Pause;
  /** Start of the next slot, in epoch milliseconds. */
  #next = 0;
  #lastTookMs = 0;

  /** Tests advance time themselves. */
  constructor(clock: Clock, pause: Pause = sleep) {
    this.#clock = clock;
    this.#pause = pause;
  }

  async step<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const now = this.#clock.now();
    const slot = Math.min(Math.max(this.#next, now), now + lifecycleLimits.slotWaitMsMax);
    const expectedMs = this.#lastTookMs;
    this.#next = slot + slotSteps * expectedMs;
    if (slot > now) await this.#pause(slot - now, undefined, { signal });
    signal.throwIfAborted();
    const began = this.#clock.now();
    try {
      return await work();
    } finally {
      const ended = this.#clock.now();
      const tookMs = Math.min(Math.max(0, ended - began), lifecycleLimits.stepCountedMsMax);
      this.#next = Math.max(this.#next + slotSteps * (tookMs - expectedMs), ended + restSteps * tookMs);
      this.#lastTookMs = tookMs;
    }
  }
}
