/**
 * Deletes are work behind the scenes, and readers of other collections are waiting. All stores of a process share one pace: each step gets a
 * slot three times as long as the step before it took, and the slots follow one another, so two thirds of the time are left for others. A slot
 * that was too short or too long is made up for by the next one. Nothing is held while a step runs: a store that hangs keeps no other from its work.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import { lifecycleLimits } from "./limits.ts";

const slotSteps = 3;

export class Pace {
  readonly #clock: Clock;
  /** Epoch milliseconds where the next slot begins. */
  #next = 0;
  #lastTookMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async step<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const asked = this.#clock.now();
    const slot = Math.min(Math.max(this.#next, asked), asked + lifecycleLimits.slotWaitMsMax);
    const expectedMs = this.#lastTookMs;
    this.#next = slot + slotSteps * expectedMs;
    if (slot > asked) await sleep(slot - asked, undefined, { signal });
    signal.throwIfAborted();
    const began = this.#clock.now();
    try {
      return await work();
    } finally {
      this.#lastTookMs = Math.min(Math.max(0, this.#clock.now() - began), lifecycleLimits.stepCountedMsMax);
      this.#next += slotSteps * (this.#lastTookMs - expectedMs);
    }
  }
}
