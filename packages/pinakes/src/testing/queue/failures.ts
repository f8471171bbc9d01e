/** What counts against a message and what does not. */
import { expect } from "vitest";
import { queueLimits } from "../../queues/queue-limits.ts";
import type { QueueFixture } from "./fixture.ts";

export function failures(fixture: QueueFixture): void {
  fixture.test(
    "R-CMP-09: after 5 processing failures a message is dead with its reason; its group and the others continue",
    async () => {
      const queue = fixture.named();
      await queue.send("g", "poison");
      await queue.send("g", "fine");
      for (let failed = 0; failed < 5; failed += 1) {
        const message = await queue.one();
        expect(message).toMatchObject({ body: "poison", failures: failed });
        await queue.failed(message, `failure ${failed + 1}`);
      }
      await queue.send("other", "also fine");
      expect(new Set(await queue.drain())).toEqual(new Set(["fine", "also fine"]));
      expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0, dead: 1 });
      if (!fixture.queue.capabilities.inspectDead) return;
      expect(await queue.deadLetters()).toMatchObject([
        { group: "g", cause: "failed", reason: "failure 5", failures: 5, leaseLosses: 0 },
      ]);
    },
  );

  fixture.test("R-CMP-09: busy never counts: a message released 12 times still has all its attempts", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    for (let n = 0; n < 12; n += 1) await queue.release(await queue.one());
    for (let failed = 0; failed < 4; failed += 1) {
      await queue.failed(await queue.one());
      await queue.release(await queue.one());
    }
    const message = await queue.one();
    expect(message).toMatchObject({ failures: 4, leaseLosses: 0 });
    await queue.done(message);
    expect(await queue.stats()).toMatchObject({ ready: 0, dead: 0 });
  });

  fixture.test("a failed or released message waits for its retry time, and so does its group", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    await queue.send("g", 2);
    await queue.failed(await queue.one(), "not yet", 1_000);
    expect(await queue.receive()).toEqual([]);
    await fixture.elapse(1_000);
    const message = await queue.one();
    await queue.queue.release(queue.scope, message.receipt, { retryInMs: 1_000 });
    expect(await queue.receive()).toEqual([]);
    await fixture.elapse(1_000);
    expect(await queue.drain()).toEqual([1, 2]);
  });

  fixture.test("a failure without a retry time is retried after 1 s, then 2 s, then 4 s", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await queue.queue.failed(queue.scope, (await queue.one()).receipt, { reason: "broken" });
      await fixture.elapse(waitMs - 1);
      expect(await queue.receive()).toEqual([]);
      await fixture.elapse(1);
    }
    expect(await queue.drain()).toEqual([1]);
  });

  fixture.test("a reason that is too long or cannot be stored is truncated and cleaned, not rejected", async () => {
    const queue = fixture.named(await fixture.open({ attemptsMax: 1 }));
    await queue.send("g", 1);
    await queue.failed(await queue.one(), `\0\uD800${"x".repeat(queueLimits.reasonCharsMax * 2)}`);
    expect(await queue.receive()).toEqual([]);
    expect(await queue.stats()).toMatchObject({ dead: 1 });
    if (!fixture.queue.capabilities.inspectDead) return;
    expect((await queue.deadLetters())[0]?.reason).toBe(`␀\uFFFD${"x".repeat(queueLimits.reasonCharsMax - 2)}`);
  });
}
