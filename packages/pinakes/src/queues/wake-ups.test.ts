import { describe, expect, it } from "vitest";
import { failure } from "../testing/item-store/fixture.ts";
import { queueLimits } from "./queue-limits.ts";
import { WakeUps } from "./wake-ups.ts";

/** Far longer than the test may take: that a wait ended at all shows that it ended early. */
const long = 600_000;
const never = new AbortController().signal;

describe("wake-ups", () => {
  it("a wake-up that comes while the receiver looks is not missed", async () => {
    const wakeUps = new WakeUps();
    const waiting = wakeUps.join("a");
    const seen = waiting.version();
    wakeUps.wake("a");
    await waiting.wait(seen, long, never);
    waiting.leave();
  });

  it("wakes all waiters of the key, and no others", async () => {
    const wakeUps = new WakeUps();
    const waiters = [wakeUps.join("a"), wakeUps.join("a")];
    const waits = waiters.map((waiting) => waiting.wait(waiting.version(), long, never));
    const other = wakeUps.join("b");
    let woken = false;
    const controller = new AbortController();
    const otherWait = other.wait(other.version(), long, controller.signal).then(() => (woken = true));
    wakeUps.wake("a");
    await Promise.all(waits);
    expect(woken).toBe(false);
    controller.abort();
    await otherWait;
  });

  it("accepts receivers up to the limit and rejects one more", async () => {
    const wakeUps = new WakeUps();
    const waiters = Array.from({ length: queueLimits.waitersMax }, () => wakeUps.join("a"));
    const more = async () => wakeUps.join("b");
    await failure(more(), "LIMIT_EXCEEDED");
    waiters[0]?.leave();
    await more();
  });
});
