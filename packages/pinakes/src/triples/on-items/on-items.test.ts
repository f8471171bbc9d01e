/** What the suite cannot see: batches, shards, and what happens between a plan and its commit. */
import { beforeEach, describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { iri, literal, type Quad } from "../../domain/rdf.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import type { ItemStore, Operation, Query } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { openItemTriples } from "./index.ts";
import { shardsPerSpace, tripleContainer } from "./quad-items.ts";

const scope = tenantScope("acme");
const system = systemScope("tests of triples on items", () => undefined);
const quad = (s: string, p: string, o: string, g?: string): Quad => ({
  s: iri(s),
  p: iri(p),
  o: iri(o),
  g: g === undefined ? "" : iri(g),
});

/** The item store, with a hook before each batch or write. */
function watched(items: ItemStore, before: (operations: readonly Operation[]) => Promise<void>): ItemStore {
  return new Proxy(items, {
    get(target, name) {
      if (name === "batch") {
        return async (...call: Parameters<ItemStore["batch"]>) => {
          await before(call[3]);
          return target.batch(...call);
        };
      }
      if (name === "write") {
        return async (...call: Parameters<ItemStore["write"]>) => {
          await before([call[3]]);
          return target.write(...call);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return PinakesError.isInstance(error) ? error.code : String(error);
}

describe("triples on items", () => {
  let items: ItemStore;
  let other: TripleStore;
  beforeEach(async () => {
    items = await openMemoryItems();
    other = await openItemTriples({ items, scope: system });
    await other.open(scope, "a");
  });

  async function partitionSizes(space: string): Promise<number[]> {
    const count = (shard: number) => items.count(scope, tripleContainer.name, { equals: { space, shard } });
    return Promise.all(Array.from({ length: shardsPerSpace }, (_, shard) => count(shard)));
  }

  it("R-TG-71 all spaces share one container, and a space's quads are spread over all of its partitions", async () => {
    for (let i = 0; i < 20; i += 1) await other.open(scope, `s${i}`);
    await other.write(scope, "a", { insert: Array.from({ length: 200 }, (_, i) => quad(`s${i}`, "p", "o")) });
    const sizes = await partitionSizes("a");
    for (const size of sizes) expect(size).toBeGreaterThan(200 / shardsPerSpace / 3);
    // The state of each beside its quads.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200 + shardsPerSpace);
  });

  it("no batch has more than 25 operations, whatever is inserted, removed or purged", async () => {
    const sizes: number[] = [];
    const triples = await openItemTriples({
      items: watched(items, async (operations) => void sizes.push(operations.length)),
      scope: system,
    });
    const rows = Array.from({ length: 300 }, (_, i) => quad("s", "p", `o${i}`, i % 3 === 0 ? `g${i}` : undefined));
    await triples.write(scope, "a", { insert: rows.slice(0, 200) });
    for (let part = 0; part < 30; part += 1)
      await triples.write(scope, "a", { insert: rows.slice(0, 3), source: { source: "doc", part } });
    await triples.write(scope, "a", { insert: rows, source: { source: "other", part: 0 } });
    expect(await triples.usage(scope, "a")).toEqual({ quads: 300, supports: 390, terms: 0 });
    expect(await triples.write(scope, "a", { remove: rows.slice(0, 50) })).toEqual({ inserted: 0, removed: 50 });
    expect(await triples.usage(scope, "a")).toEqual({ quads: 250, supports: 250, terms: 0 });
    expect(await triples.removeSource(scope, "a", "other")).toEqual({ inserted: 0, removed: 100 });
    await triples.write(scope, "a", { insert: rows, source: { source: "more", part: 0 } });
    for (let done = false; !done;) ({ done } = await triples.purge(scope, "a", { limit: 100 }));
    expect(Math.max(...sizes)).toBe(25);
    // Only the state that rejects late writes remains.
    expect(await partitionSizes("a")).toEqual(Array.from({ length: shardsPerSpace }, () => 1));
  });

  it("many long terms in one write stay within the bytes of a batch", async () => {
    const rows = Array.from({ length: 30 }, (_, i): Quad => ({
      s: iri("s"),
      p: iri("p"),
      o: literal(`${i}${"\u0001".repeat(30_000)}`),
      g: "",
    }));
    expect(await other.write(scope, "a", { insert: rows })).toEqual({ inserted: 30, removed: 0 });
    expect(await other.count(scope, "a", { p: iri("p") })).toBe(30);
  });

  it("R-TG-47 a write that was planned before the purge and arrives after it is rejected, and leaves nothing behind", async () => {
    await other.write(scope, "a", { insert: [quad("s", "p", "o")] });
    for (const [space, insert] of [
      ["a", quad("s", "p", "o2")],
      // Into a space without writes: its shards have no state yet.
      ["b", quad("s", "p", "o")],
    ] as const) {
      await other.open(scope, space);
      let purged = false;
      const late = watched(items, async () => {
        if (purged) return;
        purged = true;
        for (let done = false; !done;) ({ done } = await other.purge(scope, space));
      });
      const triples = await openItemTriples({ items: late, scope: system });
      expect(await codeOf(triples.write(scope, space, { insert: [insert] }))).toBe("CONFLICT");
      expect(purged).toBe(true);
      expect(await partitionSizes(space)).toEqual(Array.from({ length: shardsPerSpace }, () => 1));
      expect(await other.usage(scope, space)).toEqual({ quads: 0, supports: 0, terms: 0 });
    }
  });

  it("R-TG-72 a writer that loses the race between plan and commit plans again: counters stay exact", async () => {
    const row = quad("s", "p", "o", "g");
    let rounds = 0;
    const outrun = watched(items, async () => {
      rounds += 1;
      // The same shard changes during the first three attempts: it is created, gets a source, is removed.
      if (rounds === 1) await other.write(scope, "a", { insert: [row] });
      if (rounds === 2) await other.write(scope, "a", { insert: [row], source: { source: "doc", part: 1 } });
      if (rounds === 3) await other.write(scope, "a", { remove: [row] });
    });
    const triples = await openItemTriples({ items: outrun, scope: system });
    expect(await triples.write(scope, "a", { insert: [row], source: { source: "doc", part: 2 } })).toEqual({
      inserted: 1,
      removed: 0,
    });
    expect(rounds).toBeGreaterThan(3);
    expect(await triples.usage(scope, "a")).toEqual({ quads: 1, supports: 1, terms: 0 });
    expect(await triples.supports(scope, "a", [row])).toEqual([[{ source: "doc", part: 2 }]]);
    expect(await triples.graphs(scope, "a")).toEqual({ graphs: [iri("g")] });
    await triples.removeSource(scope, "a", "doc");
    expect(await triples.graphs(scope, "a")).toEqual({ graphs: [] });
  });

  it("R-TG-129 what is asserted, and what a source supports, is read from the partitions: no index that may be late is used", async () => {
    const queries: Query[] = [];
    const noted = new Proxy(items, {
      get(target, name) {
        if (name === "query")
          return (...call: Parameters<ItemStore["query"]>) => (queries.push(call[2]), target.query(...call));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const triples = await openItemTriples({ items: noted, scope: system });
    const rows = Array.from({ length: 150 }, (_, i) => quad(`s${i % 20}`, "p", `o${i}`, i % 3 === 0 ? "g" : undefined));
    await other.write(scope, "a", { insert: rows, source: { source: "doc", part: 1 } });
    await other.write(scope, "a", { insert: rows.slice(0, 120) });
    expect(await triples.asserted(scope, "a", rows)).toEqual(rows.map((_, i) => i < 120));
    const page = await triples.ofSource(scope, "a", "doc");
    expect([page.quads.length, page.cursor, page.examined]).toEqual([150, undefined, 150]);
    expect(queries.length).toBe(shardsPerSpace);
    expect(queries.filter(({ index }) => index !== undefined)).toEqual([]);
  });

  it("a quad removed between the read of its support and its own is left out of its source's page, and the others are returned", async () => {
    const rows = Array.from({ length: 30 }, (_, i) => quad("s", "p", `o${i}`));
    await other.write(scope, "a", { insert: rows, source: { source: "doc", part: 1 } });
    let removed = false;
    const late = new Proxy(items, {
      get(target, name) {
        if (name === "readMany") {
          return async (...call: Parameters<ItemStore["readMany"]>) => {
            if (!removed) {
              removed = true;
              await other.write(scope, "a", { remove: rows.slice(0, 7) });
            }
            return target.readMany(...call);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const page = await (await openItemTriples({ items: late, scope: system })).ofSource(scope, "a", "doc");
    expect(page.quads.map((one) => one.quad.o).toSorted()).toEqual(
      rows
        .slice(7)
        .map(({ o }) => o)
        .toSorted(),
    );
    expect([removed, page.cursor]).toEqual([true, undefined]);
  });

  it("R-TG-53 the next fence completes one that stopped half way, and after unfencing every shard accepts writes", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => quad(`s${i}`, "p", "o"));
    await other.write(scope, "a", { insert: rows });
    let writes = 0;
    const failing = watched(items, async () => {
      writes += 1;
      if (writes === 4) throw new PinakesError("UNAVAILABLE", "The network is gone.");
    });
    const triples = await openItemTriples({ items: failing, scope: system });
    expect(await codeOf(triples.fence(scope, "a"))).toBe("UNAVAILABLE");
    await other.fence(scope, "a");
    const states = await items.readMany(
      scope,
      tripleContainer.name,
      Array.from({ length: shardsPerSpace }, (_, shard) => ({ partition: ["a", shard], id: "!state" })),
    );
    expect(states.map((item) => item?.document["status"])).toEqual(
      Array.from({ length: shardsPerSpace }, () => "fenced"),
    );
    await other.unfence(scope, "a");
    expect(await other.write(scope, "a", { remove: rows })).toEqual({ inserted: 0, removed: 60 });
  });
});
