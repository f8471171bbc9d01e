import { describe, expect, it } from "vitest";
import { QuerySlots, type QueryBounds, type QuerySlot } from "./query-slots.ts";

const bounds: QueryBounds = {
  placesMax: 3,
  placesPerTenantMax: 2,
  waitingPerTenantMax: 2,
  memoryBytesMax: 100,
  memoryPerTenantBytesMax: 60,
};
const forever = () => new AbortController().signal;
const make = (more: Partial<QueryBounds> = {}) => new QuerySlots({ ...bounds, ...more }, forever);
const throttled = { code: "THROTTLED", status: 429, retryable: true, retryAfterMs: 1_000 };
const nothing = { places: 0, waiting: 0, bytes: 0 };

/** Who got a slot, in order. */
function watch(places: QuerySlots) {
  const got: { readonly name: string; readonly place: QuerySlot }[] = [];
  const enter = (name: string, signal?: AbortSignal) => {
    const entered = places.enter(name.charAt(0), signal).then((place) => void got.push({ name, place }));
    entered.catch(() => {});
    return entered;
  };
  const settled = () => new Promise(setImmediate);
  return {
    got: async () => (await settled(), got.map(({ name }) => name)),
    leave: (name: string) => got.find((one) => one.name === name)?.place.leave(),
    enter,
  };
}

describe("query slots", () => {
  it("a tenant gets at most its share: one more waits, and one more than may wait is rejected", async () => {
    const places = make();
    const { enter, got, leave } = watch(places);
    for (const name of ["a1", "a2", "a3", "a4"]) void enter(name);
    expect(await got()).toEqual(["a1", "a2"]);
    await expect(enter("a5")).rejects.toMatchObject(throttled);
    expect(places.usage).toEqual({ places: 2, waiting: 2, bytes: 0 });
    leave("a1");
    expect(await got()).toEqual(["a1", "a2", "a3"]);
    void enter("a6");
    await expect(enter("a7")).rejects.toMatchObject(throttled);
  });

  it("one tenant cannot take all slots, and the tenant with the fewest goes first", async () => {
    const places = make();
    const { enter, got, leave } = watch(places);
    for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void enter(name);
    expect(await got()).toEqual(["a1", "a2", "b1"]);
    // a holds one slot, b one, c none: c waited for less time, but holds none.
    leave("a1");
    expect(await got()).toEqual(["a1", "a2", "b1", "c1"]);
    leave("c1");
    expect(await got()).toEqual(["a1", "a2", "b1", "c1", "a3"]);
    leave("a2");
    expect(await got()).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
    for (const name of ["a3", "b1", "b2", "b2"]) leave(name);
    expect(places.usage).toEqual(nothing);
  });

  it("a waiting query leaves the queue when its signal aborts or its patience ends", async () => {
    const patience = new AbortController();
    const places = new QuerySlots(bounds, () => patience.signal);
    const { enter, got, leave } = watch(places);
    const own = new AbortController();
    for (const name of ["a1", "a2"]) void enter(name);
    const gone = enter("a3", own.signal);
    const late = enter("a4");
    expect(await got()).toEqual(["a1", "a2"]);
    own.abort();
    await expect(gone).rejects.toMatchObject(throttled);
    patience.abort();
    await expect(late).rejects.toMatchObject(throttled);
    await expect(enter("a5")).rejects.toMatchObject(throttled);
    expect(places.usage).toEqual({ places: 2, waiting: 0, bytes: 0 });
    leave("a1");
    void enter("a6");
    expect(await got()).toEqual(["a1", "a2", "a6"]);
  });

  it("memory is bounded per tenant and in total, at the limit and one past it, and is released with its slot", async () => {
    const places = make();
    const [a1, a2, b] = [await places.enter("a"), await places.enter("a"), await places.enter("b")];
    a1.hold(40);
    a2.hold(20);
    expect(() => a2.hold(1)).toThrow(expect.objectContaining(throttled) as Error);
    b.hold(40);
    expect(() => b.hold(1)).toThrow(expect.objectContaining(throttled) as Error);
    expect(places.usage.bytes).toBe(100);
    a1.release(1);
    b.hold(1);
    a1.leave();
    a1.leave();
    a1.hold(1_000);
    expect(places.usage).toEqual({ places: 2, waiting: 0, bytes: 61 });
    a2.leave();
    b.leave();
    expect(places.usage).toEqual(nothing);
  });

  it("within releases the slot after an error too", async () => {
    const places = make();
    await expect(places.within("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await places.within("a", async () => places.usage.places)).toBe(1);
    expect(places.usage).toEqual(nothing);
  });

  it("a stream holds its slot from the first element to the last, to an error, or until the consumer stops", async () => {
    const places = make();
    const numbers = async function* (to: number, error?: Error): AsyncGenerator<number> {
      for (let i = 0; i < to; i += 1) yield i;
      if (error !== undefined) throw error;
    };
    const whole = places.stream("a", () => numbers(2));
    expect(places.usage).toEqual(nothing);
    expect(await whole.next()).toEqual({ value: 0, done: false });
    expect(places.usage).toEqual({ ...nothing, places: 1 });
    expect([await whole.next(), await whole.next()]).toEqual([
      { value: 1, done: false },
      { value: undefined, done: true },
    ]);
    expect(places.usage).toEqual(nothing);
    const failing = places.stream("a", () => numbers(1, new Error("late")));
    await failing.next();
    await expect(failing.next()).rejects.toThrow("late");
    expect(places.usage).toEqual(nothing);
    const left = places.stream("a", () => numbers(10));
    await left.next();
    await left.return();
    expect(places.usage).toEqual(nothing);
    await expect(places.stream("a", () => Promise.reject(new Error("no"))).next()).rejects.toThrow("no");
    expect(places.usage).toEqual(nothing);
  });

  it("a rejection says what there is too much of", async () => {
    const places = new QuerySlots({ ...bounds, placesPerTenantMax: 1, waitingPerTenantMax: 1 }, forever, "exports");
    const { enter, got } = watch(places);
    for (const name of ["a1", "a2"]) void enter(name);
    expect(await got()).toEqual(["a1"]);
    await expect(enter("a3")).rejects.toThrow("At most 1 exports of this workspace run at once, and 1 wait already");
  });
});
