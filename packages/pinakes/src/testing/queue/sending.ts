/** Messages are returned as sent; the same dedupId is the same message; delays; numbers. */
import { expect } from "vitest";
import { failure, type QueueFixture } from "./fixture.ts";

const day = 86_400_000;

export function sending(fixture: QueueFixture): void {
  dedup(fixture);
  timing(fixture);

  fixture.test("any JSON body is returned as sent, and later changes of the caller's object are not", async () => {
    const queue = fixture.named();
    const bodies = [null, 0, "text", "\uFFFE\uFFFF \u0001 ü 😀", [1, [2]], { b: 1, a: { c: null } }];
    for (const body of bodies) await queue.send("g", body);
    expect(await queue.drain()).toEqual(bodies);
    const body = { n: 1 };
    const sent = queue.send("g", body);
    body.n = 2;
    await sent;
    expect(await queue.drain()).toEqual([{ n: 1 }]);
  });

  fixture.test("stats count what is ready, in flight, delayed and dead, and how old the oldest is", async () => {
    const queue = fixture.named();
    expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0, delayed: 0, dead: 0 });
    await queue.kill("dead", 1);
    for (const n of [1, 2, 3]) await queue.send("a", n);
    await queue.send("b", 1);
    await queue.one({ max: 1, leaseMs: 60_000 });
    const { exactStats, delay } = fixture.queue.capabilities;
    if (delay) await queue.send("later", 1, { delayMs: 60_000 });
    if (exactStats) await fixture.elapse(5_000);
    const stats = await queue.stats();
    expect(stats).toMatchObject({ ready: 3, inFlight: 1, delayed: delay ? 1 : 0, dead: 1 });
    expect(stats.oldestAgeMs).toBe(exactStats ? 5_000 : undefined);
  });
}

function dedup(fixture: QueueFixture): void {
  fixture.test(
    "the same dedupId is the same message: sent twice, also concurrently, it is delivered once",
    async () => {
      const queue = fixture.named();
      const first = await queue.send("g", { a: 1, b: [{ c: 2 }] }, { dedupId: "d" });
      expect(await queue.send("g", { b: [{ c: 2 }], a: 1 }, { dedupId: "d" })).toEqual(first);
      await Promise.all(Array.from({ length: 5 }, () => queue.send("g", "same", { dedupId: "e" })));
      await queue.send("other", "another group", { dedupId: "d" });
      expect(new Set(await queue.drain())).toEqual(new Set([{ a: 1, b: [{ c: 2 }] }, "another group", "same"]));
      expect(await queue.send("g", { a: 1, b: [{ c: 2 }] }, { dedupId: "d" })).toEqual(first);
      expect(await queue.drain()).toEqual([]);
    },
  );

  fixture.test(
    "other content under a known dedupId is a CONFLICT where the driver can detect it, and never a second message",
    async () => {
      const queue = fixture.named();
      const first = await queue.send("g", { a: 1 }, { dedupId: "d" });
      for (const other of [[{ a: 1 }], { a: "1" }, null]) {
        const again = queue.send("g", other, { dedupId: "d" });
        if (fixture.queue.capabilities.dedupConflict) await failure(again, "CONFLICT");
        else expect(await again).toEqual(first);
      }
      expect(await queue.drain()).toEqual([{ a: 1 }]);
    },
  );

  fixture.test("a dedupId is remembered while its message is stored, and then for the whole window", async () => {
    const queue = fixture.named();
    const first = await queue.send("g", 1, { dedupId: "d" });
    await fixture.elapse(20 * day);
    expect(await queue.send("g", 1, { dedupId: "d" })).toEqual(first);
    await queue.done(await queue.one());
    await fixture.elapse(fixture.queue.capabilities.dedupWindowMs - 1);
    expect(await queue.send("g", 1, { dedupId: "d" })).toEqual(first);
    await fixture.elapse(day);
    expect(await queue.send("g", 1, { dedupId: "d" })).not.toEqual(first);
    expect(await queue.drain()).toEqual([1]);
  });
}

function timing(fixture: QueueFixture): void {
  fixture.test("a delayed message is delivered when due, and those behind it in its group wait for it", async () => {
    const queue = fixture.named();
    if (!fixture.queue.capabilities.delay) {
      await failure(queue.send("g", "late", { delayMs: 1 }), "NOT_SUPPORTED");
      return;
    }
    await queue.send("g", "late", { delayMs: 2_000 });
    await queue.send("g", "behind");
    await queue.send("other", "at once");
    expect(await queue.drain()).toEqual(["at once"]);
    await fixture.elapse(1_999);
    expect(await queue.receive()).toEqual([]);
    await fixture.elapse(1);
    expect(await queue.drain()).toEqual(["late", "behind"]);
  });

  fixture.test("a group that was idle for months starts over", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    const zombie = await queue.one();
    await queue.done(zombie);
    await fixture.elapse(60 * day);
    await queue.send("g", 2);
    const message = await queue.one();
    await failure(queue.done(zombie), "PRECONDITION_FAILED");
    await queue.done(message);
    expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0 });
  });
}
