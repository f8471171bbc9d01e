/**
 * Deletes are work behind the scenes, and readers of other collections are waiting. All stores of a process share one pace: after a step
 * nobody begins the next one before twice the time has passed that the step took, so at least two thirds are left for others. Nothing is held
 * while a step runs: a store that hangs keeps no other from its work.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import { lifecycleLimits } from "./limits.ts";

const restShare = 2;

export class Pace {
  readonly #clock: Clock;
  /** Epoch milliseconds; no step begins before. */
  #restUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async step<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const restMs = this.#restUntil - this.#clock.now();
    if (restMs > 0) await sleep(Math.min(restMs, lifecycleLimits.restMsMax), undefined, { signal });
    signal.throwIfAborted();
    const began = this.#clock.now();
    try {
      return await work();
    } finally {
      const ended = this.#clock.now();
      this.#restUntil = Math.max(this.#restUntil, ended) + Math.min(restShare * Math.max(0, ended - began), lifecycleLimits.restMsMax);
    }
  }
}
