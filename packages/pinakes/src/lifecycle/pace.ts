/**
 * Deletes are work behind the scenes, and readers of other collections are waiting. All stores of a process share one pace: each step gets a
 * slot three times as long as the step before it took, and the slots follow one another, so two thirds of the time are left for others. A slot
 * that was too short or too long is made up for by the next one. Only of a very long step less is left: it is followed by a rest of bounded
 * length. Nothing is held while a step runs: a store that hangs keeps no other from its work.
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
  /** Epoch milliseconds where the next slot begins. */
  #next = 0;
  #lastTookMs = 0;

  /** Tests let time pass themselves. */
  constructor(clock: Clock, pause: Pause = sleep) {
    this.#clock = clock;
    this.#pause = pause;
  }

  async step<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const asked = this.#clock.now();
    const slot = Math.min(Math.max(this.#next, asked), asked + lifecycleLimits.slotWaitMsMax);
    const expectedMs = this.#lastTookMs;
    this.#next = slot + slotSteps * expectedMs;
    if (slot > asked) await this.#pause(slot - asked, undefined, { signal });
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
