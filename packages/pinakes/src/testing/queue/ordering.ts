/** FIFO within a group, one at a time; groups are independent. */
import { expect } from "vitest";
import type { Handle, QueueFixture } from "./fixture.ts";

export function ordering(fixture: QueueFixture): void {
  fixture.test(
    "R-CMP-08: a group's messages come in the order they were sent, the next only after the one before is done",
    async () => {
      const queue = fixture.named();
      for (const body of ["a", "b", "c"]) await queue.send("g", body);
      const first = await queue.one();
      expect(first).toMatchObject({ group: "g", body: "a", failures: 0, leaseLosses: 0 });
      expect(await queue.receive()).toEqual([]);
      await queue.done(first);
      const second = await queue.one();
      expect(second.body).toBe("b");
      expect(second.order > first.order).toBe(true);
      await queue.done(second);
      expect(await queue.drain()).toEqual(["c"]);
    },
  );

  fixture.test(
    "R-CMP-08: one receive returns one message each of several groups, and no more than requested",
    async () => {
      const queue = fixture.named();
      for (const group of ["a", "b", "c"]) for (const n of [1, 2]) await queue.send(group, `${group}${n}`);
      const two = await queue.receive({ max: 2 });
      const rest = await queue.receive({ max: 10 });
      expect(two).toHaveLength(2);
      expect([...two, ...rest].map(({ body }) => body).sort()).toEqual(["a1", "b1", "c1"]);
    },
  );

  fixture.test("R-CMP-08: a stuck or failing group does not hold up others", async () => {
    const queue = fixture.named();
    for (const n of [1, 2, 3]) await queue.send("stuck", n);
    const stuck = await queue.one({ leaseMs: 60_000 });
    await queue.send("poison", "bad");
    await queue.failed(await queue.one(), "broken", 60_000);
    for (let n = 0; n < 5; n += 1) await queue.send(`free${n}`, n);
    expect(new Set(await queue.drain())).toEqual(new Set([0, 1, 2, 3, 4]));
    await queue.done(stuck);
    expect(await queue.drain()).toEqual([2, 3]);
  });

  fixture.test(
    "R-CMP-08: eight receivers in two processes: never two of one group at once, order kept, each done exactly once",
    async () => {
      const [groups, messages] = [6, 8];
      const queue = fixture.named();
      const other = queue.through(await fixture.open());
      await Promise.all(
        Array.from({ length: groups }, async (_, g) => {
          for (let n = 0; n < messages; n += 1) await queue.send(`g${g}`, n);
        }),
      );
      const done: [string, unknown][] = [];
      const inFlight = new Set<string>();
      const receiver = async (handle: Handle, owner: string) => {
        while (done.length < groups * messages) {
          for (const message of await handle.receive({ owner, max: 2, leaseMs: 60_000, waitMs: 100 })) {
            expect(inFlight.has(message.group)).toBe(false);
            inFlight.add(message.group);
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
            inFlight.delete(message.group);
            done.push([message.group, message.body]);
            await handle.done(message);
          }
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, i) => receiver(i % 2 === 0 ? queue : other, `r${i}`)));
      for (let g = 0; g < groups; g += 1) {
        const bodies = done.filter(([group]) => group === `g${g}`).map(([, body]) => body);
        expect(bodies).toEqual(Array.from({ length: messages }, (_, n) => n));
      }
      expect(await queue.stats()).toMatchObject({ ready: 0, inFlight: 0, delayed: 0, dead: 0 });
    },
  );

  fixture.test(
    "concurrent sends into one group are all kept, each once, in the order of their order numbers",
    async () => {
      const queue = fixture.named();
      const other = queue.through(await fixture.open());
      const bodies = Array.from({ length: 20 }, (_, n) => n);
      await Promise.all(bodies.map((n) => (n % 2 === 0 ? queue : other).send("g", n)));
      const orders: string[] = [];
      const seen: unknown[] = [];
      for (const _ of bodies) {
        const message = await queue.one();
        orders.push(message.order);
        seen.push(message.body);
        await queue.done(message);
      }
      expect(orders).toEqual([...new Set(orders)].sort());
      expect(new Set(seen)).toEqual(new Set(bodies));
    },
  );
}
