import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lifecycleLimits } from "./limits.ts";
import { Pace } from "./pace.ts";

const never = new AbortController().signal;
const at = { ms: 1_000 };
const clock = { now: () => at.ms };
/** Milliseconds of every pause; the clock goes on by them at once. */
const pauses: number[] = [];

vi.mock("node:timers/promises", () => ({
  setTimeout: async (ms: number, _value: unknown, { signal }: { signal: AbortSignal }) => {
    signal.throwIfAborted();
    pauses.push(ms);
    at.ms += ms;
  },
}));

beforeEach(() => {
  at.ms = 1_000;
});
afterEach(() => {
  pauses.length = 0;
});

const takes = (ms: number) => async () => {
  at.ms += ms;
};

it("a step that took no time is followed at once", async () => {
  const pace = new Pace(clock);
  for (let n = 0; n < 3; n += 1) await pace.step(takes(0), never);
  expect(pauses).toEqual([]);
});

it("after a step the next one waits twice as long as it took, whichever store it is of, also if it failed", async () => {
  const pace = new Pace(clock);
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

it("stores that wait together begin one after the other, and two thirds of the time are left", async () => {
  const pace = new Pace(clock);
  await pace.step(takes(20), never);
  const began = at.ms;
  const slots: number[] = [];
  const asked = [1, 2, 3].map(() => pace.step(takes(20), never));
  // They sleep one after the other here, and the clock goes on by each pause: the sum is where a slot begins.
  for (const ms of pauses) slots.push((slots.at(-1) ?? 0) + ms);
  expect(slots).toEqual([40, 100, 160]);
  await Promise.all(asked);
  expect(at.ms - began).toBe(160 + 3 * 20);
});

it("no step counts for more than the limit, and no pause is longer than its own", async () => {
  const pace = new Pace(clock);
  await pace.step(takes(lifecycleLimits.stepCountedMsMax), never);
  await pace.step(takes(3_600_000), never);
  // An hour's step counts as one at the limit: its slot was over long ago.
  await pace.step(takes(0), never);
  expect(pauses).toEqual([2 * lifecycleLimits.stepCountedMsMax]);
  // A clock that was set back does not stop the work for as long.
  at.ms -= 86_400_000;
  await pace.step(takes(0), never);
  expect(pauses.at(-1)).toBe(lifecycleLimits.slotWaitMsMax);
});

it("a step under way keeps no other from its work", async () => {
  const pace = new Pace(clock);
  const hangs = Promise.withResolvers<void>();
  const hanging = pace.step(() => hangs.promise, never);
  let ran = false;
  await pace.step(async () => void (ran = true), never);
  expect(ran).toBe(true);
  hangs.resolve();
  await hanging;
});

it("a pause ends when the work is called off", async () => {
  const pace = new Pace(clock);
  await pace.step(takes(20), never);
  let ran = false;
  await expect(pace.step(async () => void (ran = true), AbortSignal.abort())).rejects.toThrow();
  expect(ran).toBe(false);
});
