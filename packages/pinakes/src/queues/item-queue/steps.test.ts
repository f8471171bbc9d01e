/** What the suite cannot see from outside: lost answers at each write, an index that shows nothing, the registry's races. */
import { describe, expect, it } from "vitest";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { PinakesError } from "../../domain/errors.ts";
import { tenantScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { failure, ManualClock } from "../../testing/item-store/fixture.ts";
import { Handle } from "../../testing/queue/fixture.ts";
import { openItemQueue, type ItemQueueOptions } from "./index.ts";

const scope = tenantScope("acme");
const hour = 3_600_000;

function wrapped(items: ItemStore, instead: Partial<ItemStore>): ItemStore {
  return new Proxy(items, {
    get(target, name) {
      const value: unknown = Reflect.get(name in instead ? instead : target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The index shows nothing at all: worse than any real one. */
function blind(items: ItemStore): ItemStore {
  return wrapped(items, {
    query: async (by, container, query) =>
      query.index === "ready" ? { items: [] } : items.query(by, container, query),
  });
}

async function backing() {
  const clock = new ManualClock();
  const items = await openMemoryItems({ clock });
  const open = async (through: ItemStore = items, options: Partial<ItemQueueOptions> = {}) =>
    new Handle(scope, await openItemQueue({ items: through, clock, ...options }), "work");
  return { clock, items, open };
}

describe("the sweep", () => {
  it("R-CMP-11: a waiting receiver finds a group that the index does not show by the sweep, within 30 s", async () => {
    const { clock, items, open } = await backing();
    const sender = await open();
    const receiver = await open(blind(items), { pollMsMax: 5 });
    expect(await receiver.receive()).toEqual([]);
    await sender.send("hidden", 1);
    expect(await receiver.receive()).toEqual([]);
    const waiting = receiver.receive({ waitMs: 600_000 });
    clock.advance(30_000);
    expect((await waiting).map(({ body }) => body)).toEqual([1]);
  });

  it("R-CMP-11: the sweep finds every one of 1,200 hidden groups; delayed and abandoned ones when they are due", async () => {
    const { clock, items, open } = await backing();
    const sender = await open();
    for (let n = 0; n < 1_200; n += 1) await sender.send(`g${n}`, n, n % 3 === 0 ? { delayMs: 10_000 } : {});
    const receiver = await open(blind(items));
    for (const message of await receiver.receive()) expect(message.body).not.toBe(0);
    const seen = new Set<unknown>();
    while (seen.size < 1_200) {
      clock.advance(30_000);
      const messages = await receiver.receive();
      expect(messages).toHaveLength(Math.min(10, 1_200 - seen.size));
      for (const message of messages) {
        seen.add(message.body);
        await receiver.done(message);
      }
    }
  });

  it("groups without work leave the registry after an hour, and return with the next message", async () => {
    const { clock, items, open } = await backing();
    const registered = async () =>
      (await items.query(scope, "queues", { equals: { queue: "work", part: "registry" } })).items.length;
    const queue = await open(blind(items));
    for (const group of ["idle", "busy"]) await queue.send(group, group);
    const [message] = await queue.receive({ max: 1 });
    await queue.done(message as NonNullable<typeof message>);
    clock.advance(hour);
    expect(await queue.receive()).toHaveLength(1);
    expect(await registered()).toBe(1);
    await queue.send("idle", 2);
    await queue.send("busy", 2);
    expect(await registered()).toBe(2);
  });

  it("a sender that registers while the entry is removed registers again: its message is found without the index", async () => {
    const { clock, items, open } = await backing();
    const atBatch = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = wrapped(items, {
      async batch(...call) {
        atBatch.resolve();
        await goOn.promise;
        return items.batch(...call);
      },
    });
    const sending = (await open(slow)).send("g", 1);
    await atBatch.promise;
    clock.advance(hour);
    const receiver = await open(blind(items));
    expect(await receiver.receive()).toEqual([]);
    expect((await items.query(scope, "queues", { equals: { queue: "work", part: "registry" } })).items).toEqual([]);
    goOn.resolve();
    await sending;
    clock.advance(30_000);
    expect((await receiver.receive()).map(({ body }) => body)).toEqual([1]);
  });

  it("a sweep does not remove an entry that a sender has written again", async () => {
    const { clock, items, open } = await backing();
    const sender = await open();
    await sender.send("g", 1);
    expect(await sender.drain()).toEqual([1]);
    clock.advance(hour);
    const atDelete = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = wrapped(items, {
      async write(...call) {
        atDelete.resolve();
        await goOn.promise;
        return items.write(...call);
      },
    });
    const sweeping = (await open(blind(slow))).receive();
    await atDelete.promise;
    await sender.send("g", 2);
    goOn.resolve();
    await sweeping;
    clock.advance(30_000);
    expect((await (await open(blind(items))).receive()).map(({ body }) => body)).toEqual([2]);
  });

  it("on an engine whose indexes are late, a process finds its own sends at once", async () => {
    const { items, open } = await backing();
    const late = wrapped(blind(items), { capabilities: { ...items.capabilities, indexReads: "eventual" } });
    const queue = await open(late);
    expect(await queue.receive()).toEqual([]);
    await queue.send("g", 1);
    await queue.send("g", 2);
    expect(await queue.drain()).toEqual([1, 2]);
  });
});

describe("fairness", () => {
  it("R-CMP-08: groups take turns: one that is always full does not keep the others waiting", async () => {
    const { clock, open } = await backing();
    const queue = await open();
    for (const n of [1, 2, 3]) await queue.send("full", `full ${n}`);
    clock.advance(1);
    await queue.send("other", "other 1");
    const seen: unknown[] = [];
    for (let n = 0; n < 4; n += 1) {
      clock.advance(1);
      const message = await queue.one({ max: 1 });
      seen.push(message.body);
      await queue.done(message);
    }
    expect(seen).toEqual(["full 1", "other 1", "full 2", "full 3"]);
  });
});

describe("lost answers and crashes", () => {
  /**
   * The nth write fails before it is carried out, or is carried out and its answer is lost; everything after it fails: the process is gone.
   */
  function failing(items: ItemStore, nth: number, carriedOut: boolean) {
    const state = { writes: 0, operationsMax: 0 };
    const gone = () => new PinakesError("UNAVAILABLE", "The process has stopped here, for the test.");
    const guard = async <T>(call: () => Promise<T>): Promise<T> => {
      state.writes += 1;
      if (state.writes < nth) return call();
      if (state.writes === nth && carriedOut) await call();
      throw gone();
    };
    const store = wrapped(items, {
      write: (...call) => guard(() => items.write(...call)),
      batch(...call) {
        state.operationsMax = Math.max(state.operationsMax, call[3].length);
        return guard(() => items.batch(...call));
      },
    });
    return { state, store };
  }

  /** A history with every kind of step: registration, sends, lease, release, failure, death, redrive, done. */
  async function whole(queue: Handle, expired: () => void): Promise<void> {
    await queue.send("g", "a", { dedupId: "a" });
    await queue.send("g", "b", { dedupId: "b" });
    const first = await queue.one();
    await queue.heartbeat(first);
    await queue.release(first);
    await queue.failed(await queue.one(), "once");
    await queue.failed(await queue.one(), "twice");
    const [letter] = await queue.deadLetters();
    if (letter !== undefined) await queue.queue.dead.redrive(scope, queue.name, letter);
    expired();
    await queue.done(await queue.one());
  }

  for (const carriedOut of [false, true]) {
    it(`R-CMP-09: after a crash at each write (${carriedOut ? "carried out, answer lost" : "not carried out"}) nothing is lost, doubled or stuck`, async () => {
      let nth = 0;
      for (let crashed = true; crashed;) {
        nth += 1;
        const { clock, items, open } = await backing();
        const { state, store } = failing(items, nth, carriedOut);
        const error: unknown = await whole(await open(store, { attemptsMax: 2 }), () => clock.advance(1)).catch(
          (reason: unknown) => reason,
        );
        crashed = state.writes >= nth;
        if (crashed) expect(error).toMatchObject({ code: "UNAVAILABLE" });
        expect(state.operationsMax).toBeLessThanOrEqual(25);
        clock.advance(60_000);
        const healthy = await open(blind(items), { attemptsMax: 2 });
        // A sender that does not know whether a send arrived repeats it.
        await healthy.send("g", "a", { dedupId: "a" });
        await healthy.send("g", "b", { dedupId: "b" });
        for (const letter of await healthy.deadLetters()) await healthy.queue.dead.redrive(scope, healthy.name, letter);
        const left: unknown[] = [];
        for (let round = 0; round < 3; round += 1) {
          clock.advance(30_000);
          for (const message of await healthy.receive()) {
            left.push(message.body);
            await healthy.done(message);
          }
        }
        // In the history above only "b" can be done before the end, and only at its end.
        expect(left.toSorted()).toEqual(left.includes("b") ? ["a", "b"] : ["a"]);
        expect(await healthy.stats()).toEqual({ ready: 0, inFlight: 0, delayed: 0, dead: 0 });
      }
      expect(nth).toBeGreaterThan(10);
    });
  }

  it("a claim whose answer was lost does not cost the receiver the others it has claimed", async () => {
    const { items, open } = await backing();
    const queue = await open();
    for (const group of ["a", "b", "c"]) await queue.send(group, group);
    const { store } = failing(items, 2, false);
    expect(await (await open(store)).receive()).toHaveLength(1);
    expect(await queue.receive()).toHaveLength(2);
  });
});

describe("bounds", () => {
  it("a group rejects messages beyond its limit, but still recognises those it has", async () => {
    const { open } = await backing();
    const queue = await open(undefined, { groupMessagesMax: 2 });
    const first = await queue.send("g", 1, { dedupId: "a" });
    await queue.send("g", 2);
    await failure(queue.send("g", 3, { dedupId: "c" }), "LIMIT_EXCEEDED");
    await failure(queue.send("g", 3), "LIMIT_EXCEEDED");
    expect(await queue.send("g", 1, { dedupId: "a" })).toEqual(first);
    await queue.send("other", 1);
    for (const message of await queue.receive()) await queue.done(message);
    await queue.send("g", 3);
  });

  it("invalid options are rejected when the queue is opened", async () => {
    const { items } = await backing();
    for (const options of [
      { attemptsMax: 0 },
      { attemptsMax: 1_001 },
      { leaseLossesMax: 0 },
      { sweepMs: 30_001 },
      { pollMsMax: 30_001 },
      { groupMessagesMax: 0 },
    ]) {
      await failure(openItemQueue({ items, ...options }), "INVALID");
    }
  });

  it("an inconsistent group record is CORRUPT, and nothing uses it", async () => {
    const { items, open } = await backing();
    const queue = await open();
    await queue.send("g", 1);
    const partition = ["work", "g:g"];
    await items.write(scope, "queues", partition, {
      op: "patch",
      id: "g",
      patch: [{ op: "set", path: "/count", value: 0 }],
    });
    await failure(queue.send("g", 2), "CORRUPT");
    await failure(queue.receive(), "CORRUPT");
    await queue.send("other", "goes on");
    for (const through of [items, blind(items)]) {
      const healthy = await open(through);
      const message = await healthy.one();
      expect(message.body).toBe("goes on");
      await healthy.release(message);
    }
  });
});
