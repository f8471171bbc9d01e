/** A lease belongs to one receiver. A receiver that stalls loses it, and can do nothing with it afterwards. */
import { expect } from "vitest";
import type { ReceivedMessage } from "../../ports/queue.ts";
import { failure, type Handle, type QueueFixture } from "./fixture.ts";

export function leases(fixture: QueueFixture): void {
  crashes(fixture);

  fixture.test(
    "lease: after a takeover the former owner can neither extend nor finish, and the new one is not affected",
    async () => {
      const queue = fixture.named();
      await queue.send("g", 1);
      await queue.send("g", 2);
      const zombie = await queue.one({ owner: "w1", leaseMs: 1_000 });
      await fixture.elapse(1_001);
      // The same name: a restarted worker is another owner nevertheless.
      const heir = await queue.one({ owner: "w1", leaseMs: 60_000 });
      expect(heir).toMatchObject({ id: zombie.id, body: 1, failures: 0, leaseLosses: 1 });
      await failure(queue.heartbeat(zombie), "PRECONDITION_FAILED");
      await failure(queue.done(zombie), "PRECONDITION_FAILED");
      await failure(queue.failed(zombie), "PRECONDITION_FAILED");
      await failure(queue.release(zombie), "PRECONDITION_FAILED");
      await queue.heartbeat(heir, 60_000);
      await queue.done(heir);
      for (const receipt of [zombie, heir]) await failure(queue.heartbeat(receipt), "PRECONDITION_FAILED");
      expect(await queue.drain()).toEqual([2]);
    },
  );

  fixture.test("lease: heartbeats keep a lease for as long as they come, through another process too", async () => {
    const queue = fixture.named();
    const other = queue.through(await fixture.open());
    await queue.send("g", 1);
    const message = await queue.one({ leaseMs: 4_000 });
    for (let beat = 0; beat < 3; beat += 1) {
      await fixture.elapse(1_500);
      await (beat % 2 === 0 ? queue : other).heartbeat(message);
      expect(await other.receive()).toEqual([]);
    }
    await other.done(message);
    await fixture.elapse(4_001);
    expect(await queue.receive()).toEqual([]);
  });

  fixture.test("an ending repeated after a lost answer is the same ending; a different one is rejected", async () => {
    const queue = fixture.named();
    await queue.send("g", 1);
    const endings: ((message: ReceivedMessage) => Promise<void>)[] = [
      (m) => queue.release(m),
      (m) => queue.failed(m),
      (m) => queue.done(m),
    ];
    for (const [i, end] of endings.entries()) {
      const message = await queue.one();
      expect(message.failures).toBe(i === 2 ? 1 : 0);
      await end(message);
      await end(message);
      await failure((endings[(i + 1) % 3] as typeof end)(message), "PRECONDITION_FAILED");
    }
    expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0, dead: 0 });
  });

  fixture.test(
    "R-CMP-09: a message whose lease expires too often is dead without any failure, and its group continues",
    async () => {
      const queue = fixture.named(await fixture.open({ leaseLossesMax: 2 }));
      await queue.send("g", "kills its worker");
      await queue.send("g", "fine");
      for (const leaseLosses of [0, 1]) {
        expect(await queue.one({ leaseMs: 1_000 })).toMatchObject({
          body: "kills its worker",
          failures: 0,
          leaseLosses,
        });
        await fixture.elapse(1_001);
      }
      expect(await queue.drain()).toEqual(["fine"]);
      expect(await queue.stats()).toMatchObject({ dead: 1 });
      if (!fixture.queue.capabilities.inspectDead) return;
      expect(await queue.deadLetters()).toMatchObject([{ cause: "lease-lost", failures: 0, leaseLosses: 2 }]);
    },
  );
}

/** A receiver that stops for good right after each step. Everything else continues once its lease has expired. */
function crashes(fixture: QueueFixture): void {
  const steps: Record<
    string,
    { do(queue: Handle, message: ReceivedMessage): Promise<void>; left: unknown[]; failures: number }
  > = {
    receiving: { do: async () => {}, left: ["first", "second"], failures: 0 },
    "a heartbeat": { do: (queue, message) => queue.heartbeat(message), left: ["first", "second"], failures: 0 },
    failing: { do: (queue, message) => queue.failed(message), left: ["first", "second"], failures: 1 },
    releasing: { do: (queue, message) => queue.release(message), left: ["first", "second"], failures: 0 },
    finishing: { do: (queue, message) => queue.done(message), left: ["second"], failures: 0 },
  };
  for (const [title, step] of Object.entries(steps)) {
    fixture.test(
      `R-CMP-09: a receiver that dies after ${title} loses nothing and costs the message no attempt`,
      async () => {
        const queue = fixture.named();
        const crashing = await fixture.open();
        await queue.send("g", "first");
        await queue.send("g", "second");
        const through = queue.through(crashing);
        await step.do(through, await through.one({ leaseMs: 2_000 }));
        await crashing.close();
        await fixture.elapse(2_001);
        const next = await queue.one();
        expect(next.failures).toBe(step.failures);
        await queue.done(next);
        expect([next.body, ...(await queue.drain())]).toEqual(step.left);
        expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0, dead: 0 });
      },
    );
  }
}
