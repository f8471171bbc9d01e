/** Bad input is rejected with a reason, before anything is written; each limit is tested at its value and one past it. */
import { expect } from "vitest";
import type { JsonValue } from "../../domain/json.ts";
import type { NewMessage, ReceiveOptions } from "../../ports/queue.ts";
import { queueLimits } from "../../queues/queue-limits.ts";
import { failure, type QueueFixture } from "./fixture.ts";

export function inputs(fixture: QueueFixture): void {
  fixture.test("queue names", async () => {
    const longest = `q${"x".repeat(queueLimits.queueNameCharsMax - 1)}`;
    await fixture.queue.send(fixture.scope, longest, { group: "g", body: 1 });
    expect(await fixture.queue.receive(fixture.scope, longest, { owner: "o" })).toHaveLength(1);
    for (const name of ["", "-a", "A", "a.b", "a/b", "ü", `${longest}x`, 5, undefined] as string[]) {
      await failure(fixture.queue.send(fixture.scope, name, { group: "g", body: 1 }), "INVALID");
      await failure(fixture.queue.receive(fixture.scope, name, { owner: "o" }), "INVALID");
      await failure(fixture.queue.stats(fixture.scope, name), "INVALID");
      await failure(fixture.queue.dead.list(fixture.scope, name), "INVALID");
    }
  });

  fixture.test("bodies up to 200,000 bytes and 60 levels; nothing that JSON would change", async () => {
    const queue = fixture.named();
    const text = (bytes: number) => "x".repeat(bytes - 2);
    const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);
    const largest = [
      text(queueLimits.bodyBytesMax),
      "ü".repeat(queueLimits.bodyBytesMax / 2 - 1),
      nested(queueLimits.bodyDepthMax),
    ];
    for (const body of largest) await queue.send("g", body);
    expect(await queue.drain()).toEqual(largest);
    for (const body of [text(queueLimits.bodyBytesMax + 1), "ü".repeat(queueLimits.bodyBytesMax / 2)])
      await failure(queue.send("g", body), "LIMIT_EXCEEDED");
    const bad: unknown[] = [
      undefined,
      Number.NaN,
      1n,
      new Date(0),
      { f() {} },
      [undefined],
      "\0",
      { "a\0": 1 },
      nested(queueLimits.bodyDepthMax + 1),
    ];
    for (const body of bad) await failure(queue.send("g", body as JsonValue), "INVALID");
    expect(await queue.stats()).toMatchObject({ ready: 0 });
  });

  fixture.test("messages", async () => {
    const queue = fixture.named();
    const group = "g".repeat(queueLimits.groupBytesMax);
    await queue.send(group, 1, { dedupId: "d".repeat(queueLimits.dedupIdBytesMax) });
    expect(await queue.drain()).toEqual([1]);
    const bad: Partial<Record<keyof NewMessage, unknown>>[] = [
      { group: "" },
      { group: 1 },
      { group: `${group}g` },
      { group: "\uD800" },
      { group: "a\0" },
      { dedupId: "" },
      { dedupId: "d".repeat(queueLimits.dedupIdBytesMax + 1) },
      { delayMs: -1 },
      { delayMs: 0.5 },
      { delayMs: queueLimits.delayMsMax + 1 },
    ];
    for (const message of bad) await failure(queue.send("g", 1, message as Partial<NewMessage>), "INVALID");
    await failure(fixture.queue.send(fixture.scope, queue.name, null as unknown as NewMessage), "INVALID");
    if (fixture.queue.capabilities.delay) await queue.send("later", 1, { delayMs: queueLimits.delayMsMax });
  });

  fixture.test("receive options and receipts", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    const { leaseMsMin, leaseMsMax, receiveMessagesMax, ownerBytesMax, waitMsMax, receiptCharsMax, retryMsMax } =
      queueLimits;
    const message = await queue.one({
      max: receiveMessagesMax,
      leaseMs: leaseMsMax,
      owner: "o".repeat(ownerBytesMax),
      waitMs: waitMsMax,
    });
    const bad: Partial<Record<keyof ReceiveOptions, unknown>>[] = [
      { max: 0 },
      { max: receiveMessagesMax + 1 },
      { leaseMs: leaseMsMin - 1 },
      { leaseMs: leaseMsMax + 1 },
      { owner: "" },
      { owner: undefined },
      { owner: "o".repeat(ownerBytesMax + 1) },
      { waitMs: -1 },
      { waitMs: waitMsMax + 1 },
    ];
    for (const options of bad) await failure(queue.receive(options as Partial<ReceiveOptions>), "INVALID");
    await failure(queue.queue.receive(queue.scope, queue.name, undefined as unknown as ReceiveOptions), "INVALID");
    const other = Buffer.from("[1,2]").toString("base64url");
    for (const receipt of ["", "x", other, "x".repeat(receiptCharsMax + 1), 5 as unknown as string]) {
      await failure(queue.queue.done(queue.scope, receipt), "INVALID");
      await failure(queue.queue.heartbeat(queue.scope, receipt), "INVALID");
    }
    await failure(queue.heartbeat(message, leaseMsMax + 1), "INVALID");
    await failure(queue.failed(message, ""), "INVALID");
    await failure(queue.failed(message, "r", retryMsMax + 1), "INVALID");
    await failure(queue.queue.release(queue.scope, message.receipt, { retryInMs: -1 }), "INVALID");
    await queue.heartbeat(message, leaseMsMin);
    await queue.done(message);
  });

  fixture.test("keys and pages of dead letters", async () => {
    const { dead, capabilities } = fixture.queue;
    if (!capabilities.inspectDead) return;
    for (const limit of [0, queueLimits.deadPageItemsMax + 1, 1.5])
      await failure(dead.list(fixture.scope, "q", { limit }), "INVALID");
    await failure(dead.list(fixture.scope, "q", { cursor: "made up" }), "INVALID");
    for (const key of [
      null,
      {},
      { group: "g" },
      { group: "", id: "x" },
      { group: "g", id: "x".repeat(queueLimits.deadIdCharsMax + 1) },
    ]) {
      await failure(dead.inspect(fixture.scope, "q", key as never), "INVALID");
      await failure(dead.redrive(fixture.scope, "q", key as never), "INVALID");
      await failure(dead.discard(fixture.scope, "q", key as never), "INVALID");
    }
  });
}
