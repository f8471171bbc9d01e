import { expect, it } from "vitest";
import { lifecycleLimits } from "./limits.ts";
import { Pace } from "./pace.ts";

const never = new AbortController().signal;

/** A clock that shows what the test says, while real time passes. */
function clockAt(at: { ms: number }) {
  return { now: () => at.ms };
}

it("a step that took no time is followed at once", async () => {
  const pace = new Pace(clockAt({ ms: 1_000 }));
  const order: number[] = [];
  for (const number of [1, 2, 3]) await pace.step(async () => order.push(number), never);
  expect(order).toEqual([1, 2, 3]);
});

it("after a step the next one waits twice as long as it took, whichever store it is of", async () => {
  const at = { ms: 1_000 };
  const pace = new Pace(clockAt(at));
  await pace.step(async () => (at.ms += 25), never);
  const began = performance.now();
  await pace.step(async () => {}, never);
  // At least that long; how much longer is the machine's affair. (A timer may be a millisecond early.)
  expect(performance.now() - began).toBeGreaterThanOrEqual(48);
});

it("a failed step counts too, and no step counts for more than the limit", async () => {
  const at = { ms: 1_000 };
  const pace = new Pace(clockAt(at));
  const failing = pace.step(async () => {
    at.ms += 3_600_000;
    throw new Error("down");
  }, never);
  await expect(failing).rejects.toThrow("down");
  // One millisecond before the limit there is still something to wait for, so a call that is off already is refused there; at it, nothing.
  at.ms += lifecycleLimits.restMsMax - 1;
  await expect(pace.step(async () => "begun", AbortSignal.abort())).rejects.toThrow();
  at.ms += 1;
  expect(await pace.step(async () => "begun", never)).toBe("begun");
});

it("a step under way keeps no other from its work", async () => {
  const pace = new Pace(clockAt({ ms: 1_000 }));
  const hangs = Promise.withResolvers<void>();
  const hanging = pace.step(() => hangs.promise, never);
  await pace.step(async () => {}, never);
  hangs.resolve();
  await hanging;
});

it("a pause ends when the work is called off", async () => {
  const at = { ms: 1_000 };
  const pace = new Pace(clockAt(at));
  await pace.step(async () => (at.ms += lifecycleLimits.restMsMax), never);
  const stop = new AbortController();
  let ran = false;
  const next = pace.step(async () => (ran = true), stop.signal);
  stop.abort();
  await expect(next).rejects.toThrow();
  expect(ran).toBe(false);
});
