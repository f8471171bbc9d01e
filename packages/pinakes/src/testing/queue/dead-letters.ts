/** Dead letters wait for an operator: list, inspect, redrive, discard. */
import { expect } from "vitest";
import { failure, type QueueFixture } from "./fixture.ts";

export function deadLetters(fixture: QueueFixture): void {
  fixture.test("dead letter operations that a driver does not support are NOT_SUPPORTED", async () => {
    if (fixture.queue.capabilities.inspectDead) return;
    const { dead } = fixture.queue;
    const key = { group: "g", id: "x" };
    await failure(dead.list(fixture.scope, "q"), "NOT_SUPPORTED");
    await failure(dead.inspect(fixture.scope, "q", key), "NOT_SUPPORTED");
    await failure(dead.redrive(fixture.scope, "q", key), "NOT_SUPPORTED");
    await failure(dead.discard(fixture.scope, "q", key), "NOT_SUPPORTED");
  });

  fixture.test("dead letter: dead letters can be listed page by page and inspected", async () => {
    const queue = fixture.named(await fixture.open({ attemptsMax: 2 }));
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await queue.kill(`g${n % 2}`, { n }));
      await fixture.elapse(10);
    }
    const letters = await queue.deadLetters(2);
    expect(letters.map(({ id }) => id)).toEqual(ids);
    expect(letters.every((letter) => !("body" in letter))).toBe(true);
    const letter = await queue.queue.dead.inspect(queue.scope, queue.name, { group: "g1", id: ids[3] as string });
    expect(letter).toMatchObject({
      ...letters[3],
      body: { n: 3 },
      cause: "failed",
      failures: 2,
      reason: 'cannot do {"n":3}',
    });
    expect(
      await queue.queue.dead.inspect(queue.scope, queue.name, { group: "g0", id: ids[3] as string }),
    ).toBeUndefined();
  });

  fixture.test(
    "dead letter: redriven, it goes to the end of its group with a new order and its origin, exactly once however often",
    async () => {
      const queue = fixture.named(await fixture.open({ attemptsMax: 2 }));
      const id = await queue.kill("g", "bad", { dedupId: "d" });
      await queue.send("g", "newer");
      const [letter] = await queue.deadLetters();
      const key = { group: "g", id };
      const redrive = () => queue.queue.dead.redrive(queue.scope, queue.name, key);
      const sent = await Promise.all([redrive(), redrive(), redrive()]);
      expect(new Set(sent.map((result) => result.id)).size).toBe(1);
      expect(await queue.deadLetters()).toEqual([]);
      expect(await queue.queue.dead.inspect(queue.scope, queue.name, key)).toBeUndefined();
      const newer = await queue.one();
      await queue.done(newer);
      const again = await queue.one();
      expect(again).toMatchObject({
        id: sent[0]?.id,
        body: "bad",
        failures: 0,
        origin: { id, order: letter?.order, sentAt: letter?.sentAt },
      });
      expect(again.order > newer.order).toBe(true);
      await queue.done(again);
      expect(await redrive()).toEqual(sent[0]);
      expect(await queue.drain()).toEqual([]);
      expect(await queue.send("g", "bad", { dedupId: "d" })).toEqual({ id });
      expect(await queue.stats()).toMatchObject({ ready: 0, dead: 0 });
    },
  );

  fixture.test(
    "dead letter: one that dies again keeps its first origin, and redriving an unknown one is NOT_FOUND",
    async () => {
      const queue = fixture.named(await fixture.open({ attemptsMax: 1 }));
      const id = await queue.kill("g", 1);
      const { id: second } = await queue.queue.dead.redrive(queue.scope, queue.name, { group: "g", id });
      await queue.failed(await queue.one());
      expect(await queue.deadLetters()).toMatchObject([{ id: second, origin: { id } }]);
      await failure(
        queue.queue.dead.redrive(queue.scope, queue.name, { group: "g", id: "0000000000000001.none" }),
        "NOT_FOUND",
      );
    },
  );

  fixture.test("dead letter: discarding removes it, and is idempotent", async () => {
    const queue = fixture.named(await fixture.open({ attemptsMax: 1 }));
    const id = await queue.kill("g", 1, { dedupId: "d" });
    const kept = await queue.kill("g", 2);
    const discard = () => queue.queue.dead.discard(queue.scope, queue.name, { group: "g", id });
    expect(await discard()).toBe(true);
    expect(await discard()).toBe(false);
    expect((await queue.deadLetters()).map((letter) => letter.id)).toEqual([kept]);
    await failure(queue.queue.dead.redrive(queue.scope, queue.name, { group: "g", id }), "NOT_FOUND");
    expect(await queue.send("g", 1, { dedupId: "d" })).toEqual({ id });
    expect(await queue.drain()).toEqual([]);
  });
}
