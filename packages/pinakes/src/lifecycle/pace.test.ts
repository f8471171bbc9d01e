import { afterEach, beforeEach, expect, it } from "vitest";
import { lifecycleLimits } from "./limits.ts";
import { Pace } from "./handler.ts";

const never = new AbortController().signal;
const at = { ms: 1_000 };
const clock = { now: () => at.ms };
/** Pauses in milliseconds; each advances the clock immediately. */
const pauses: number[] = [];

const pause = async (ms: number, _value: undefined, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
  signal.throwIfAborted();
  pauses.push(ms);
  at.ms += ms;
};

beforeEach(() => {
  at.ms = 1_000;
});
afterEach(() => {
  pauses.length = 0;
});

const takes = (ms: number) => async () => {
  at.ms += ms;
};

it("a step that took no time has no pause after it", async () => {
  const pace = new Pace(clock, pause);
  for (let n = 0; n < 3; n += 1) await pace.step(takes(0), never);
  expect(pauses).toEqual([]);
});

it("after a step the next one waits twice as long as it took, whichever store it is of, also if it failed", async () => {
  const pace = new Pace(clock, pause);
  await pace.step(takes(25), never);
  await pace.step(takes(10), never);
  const failing = pace.step(async () => {
    at.ms += 40;
    throw new Error("down");
  }, never);
  await expect(failing).rejects.toThrow("down");
  await pace.step(takes(0), never);
  expect(pauses).toEqual([50, 20, 80]);
});

it("waiting stores start one after the other, leaving two thirds of the time free", async () => {
  const pace = new Pace(clock, pause);
  await pace.step(takes(20), never);
  const began = at.ms;
  const slots: number[] = [];
  const steps = [1, 2, 3].map(() => pace.step(takes(20), never));
  // They sleep sequentially here, and each pause advances the clock: the sum is the start of a slot.
  for (const ms of pauses) slots.push((slots.at(-1) ?? 0) + ms);
  expect(slots).toEqual([40, 100, 160]);
  await Promise.all(steps);
  expect(at.ms - began).toBe(160 + 3 * 20);
});

it("a step counts only up to its limit, and is followed by a rest however long it took", async () => {
  const { stepCountedMsMax } = lifecycleLimits;
  for (const took of [stepCountedMsMax - 1, stepCountedMsMax, stepCountedMsMax + 1, 3_600_000]) {
    const pace = new Pace(clock, pause);
    for (let n = 0; n < 3; n += 1) await pace.step(takes(took), never);
    const rest = 2 * Math.min(took, stepCountedMsMax);
    expect(pauses.splice(0), `steps of ${took} ms`).toEqual([rest, rest]);
  }
});

it("no step waits for its slot longer than the limit, even if the clock was set back", async () => {
  const pace = new Pace(clock, pause);
  await pace.step(takes(10), never);
  at.ms -= 86_400_000;
  await pace.step(takes(0), never);
  expect(pauses).toEqual([lifecycleLimits.slotWaitMsMax]);
});

it("with the maximum number of stores no slot wait exceeds the limit", async () => {
  const { participantsMax, slotWaitMsMax, stepCountedMsMax } = lifecycleLimits;
  const pace = new Pace(clock, async (ms) => void pauses.push(ms));
  await pace.step(takes(stepCountedMsMax), never);
  for (let n = 0; n < participantsMax; n += 1) void pace.step(takes(0), never);
  expect(pauses).toEqual(Array.from({ length: participantsMax }, (_, n) => (3 * n + 2) * stepCountedMsMax));
  expect(pauses.at(-1)).toBeLessThanOrEqual(slotWaitMsMax);
});

it("a step in progress does not block others", async () => {
  const pace = new Pace(clock, pause);
  const hangs = Promise.withResolvers<void>();
  const hanging = pace.step(() => hangs.promise, never);
  let ran = false;
  await pace.step(async () => void (ran = true), never);
  expect(ran).toBe(true);
  hangs.resolve();
  await hanging;
});

it("a pause ends when the work is aborted", async () => {
  const pace = new Pace(clock, pause);
  await pace.step(takes(20), never);
  let ran = false;
  await expect(pace.step(async () => void (ran = true), AbortSignal.abort())).rejects.toThrow();
  expect(ran).toBe(false);
});
