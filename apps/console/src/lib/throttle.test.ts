import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { throttle } from "./throttle.ts";

describe("work in turns", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("a thousand times asked for is done soon, then once in a while, and a last time for what came meanwhile", async () => {
    let done = 0;
    const ask = throttle(async () => void (done += 1), { soonMs: 700, againMs: 2_000 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(done).toBe(0);
    ask();
    await vi.advanceTimersByTimeAsync(699);
    expect(done).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toBe(1);
    for (let i = 0; i < 1_000; i += 1) ask();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(done).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(done).toBe(2);
  });

  it("is not done twice at once, however long it takes", async () => {
    const ends: (() => void)[] = [];
    const ask = throttle(() => new Promise((resolve) => ends.push(resolve)), { soonMs: 0, againMs: 10 });
    ask();
    await vi.advanceTimersByTimeAsync(0);
    ask();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(10);
    expect(ends).toHaveLength(2);
  });
});
