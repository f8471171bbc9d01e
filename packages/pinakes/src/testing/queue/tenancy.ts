/** Two tenants with the same names: neither sees, changes, counts or learns of the other's messages. */
import { expect } from "vitest";
import type { Scope } from "../../domain/scope.ts";
import { failure, type QueueFixture } from "./fixture.ts";

export function tenancy(fixture: QueueFixture): void {
  fixture.test("another tenant's queue is empty, and its receipts have no effect", async () => {
    const queue = fixture.named();
    const attacker = queue.as(fixture.otherScope);
    await queue.send("g", "secret", { dedupId: "d" });
    expect(await attacker.receive()).toEqual([]);
    expect(await attacker.stats()).toMatchObject({ ready: 0, inFlight: 0, delayed: 0, dead: 0 });
    const message = await queue.one({ leaseMs: 60_000 });
    await failure(attacker.heartbeat(message), "PRECONDITION_FAILED");
    await failure(attacker.done(message), "PRECONDITION_FAILED");
    await failure(attacker.failed(message), "PRECONDITION_FAILED");
    await failure(attacker.release(message), "PRECONDITION_FAILED");
    // Neither a conflict nor the id of the first: for this tenant the dedupId is new.
    expect(await attacker.send("g", "mine", { dedupId: "d" })).not.toEqual({ id: message.id });
    expect(await attacker.drain()).toEqual(["mine"]);
    await queue.done(message);
  });

  fixture.test("another tenant's dead letters do not exist", async () => {
    if (!fixture.queue.capabilities.inspectDead) return;
    const queue = fixture.named(await fixture.open({ attemptsMax: 1 }));
    const attacker = queue.as(fixture.otherScope);
    const id = await queue.kill("g", "secret");
    await queue.kill("g", "secret 2");
    const { dead } = queue.queue;
    expect(await attacker.deadLetters()).toEqual([]);
    expect(await dead.inspect(attacker.scope, queue.name, { group: "g", id })).toBeUndefined();
    expect(await dead.discard(attacker.scope, queue.name, { group: "g", id })).toBe(false);
    await failure(dead.redrive(attacker.scope, queue.name, { group: "g", id }), "NOT_FOUND");
    const page = await dead.list(queue.scope, queue.name, { limit: 1 });
    await failure(dead.list(attacker.scope, queue.name, { limit: 1, cursor: page.cursor as string }), "INVALID");
    expect(await queue.deadLetters()).toHaveLength(2);
  });

  fixture.test("every method rejects a call without a real scope", async () => {
    const { queue } = fixture;
    const key = { group: "g", id: "x" };
    for (const scope of [undefined, null, {}, { tenant: "acme" }] as unknown as Scope[]) {
      const calls = [
        queue.send(scope, "q", { group: "g", body: 1 }),
        queue.receive(scope, "q", { owner: "o" }),
        queue.heartbeat(scope, "r"),
        queue.done(scope, "r"),
        queue.failed(scope, "r", { reason: "r" }),
        queue.release(scope, "r"),
        queue.stats(scope, "q"),
        queue.dead.list(scope, "q"),
        queue.dead.inspect(scope, "q", key),
        queue.dead.redrive(scope, "q", key),
        queue.dead.discard(scope, "q", key),
      ];
      for (const call of calls) await failure(call, "UNAUTHENTICATED");
    }
  });

  fixture.test(
    "groups whose names look like other groups, or like the queue's own records, are separate groups",
    async () => {
      const queue = fixture.named();
      const names = [
        "registry",
        "g:registry",
        "g",
        "a",
        "A",
        "a/b",
        "a\nb",
        "ü",
        "u\u0308",
        "😀",
        "__proto__",
        "g".repeat(256),
        `${"g".repeat(255)}h`,
      ];
      for (const name of names) await queue.send(name, name);
      const seen: unknown[] = [];
      for (let messages = await queue.receive(); messages.length > 0; messages = await queue.receive()) {
        for (const message of messages) {
          expect(message.group).toBe(message.body);
          seen.push(message.body);
          await queue.done(message);
        }
      }
      expect(seen.sort()).toEqual([...names].sort());
    },
  );
}
