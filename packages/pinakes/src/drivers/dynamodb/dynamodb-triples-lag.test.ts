/** Triples with late indexes: which answers are late, and that everything else is right without them. */
import { beforeAll, expect, it } from "vitest";
import { iri, type Quad } from "../../domain/rdf.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { openItemTriples } from "../../triples/on-items/index.ts";
import { startLagProxy } from "./lag-proxy.ts";
import { TestStores } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const never = 3_600_000;
const scope = tenantScope("acme");
const quad = (s: string, p: string, o: string, g?: string): Quad => ({
  s: iri(s),
  p: iri(p),
  o: iri(o),
  g: g === undefined ? "" : iri(g),
});
let triples: TripleStore;
const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));
const items = forAllTests(() => new TestStores(() => proxy.endpoint).open());
beforeAll(async () => {
  triples = await openItemTriples({ items, scope: systemScope("tests of triples on items", () => undefined) });
});

it("R-TG-72 R-TG-129 R-TG-39 with indexes that show nothing, writes, counters, sources, graphs and the purge are exact", async () => {
  expect(triples.capabilities.reads).toBe("eventual");
  proxy.lag(never);
  await triples.open(scope, "late");
  const rows = Array.from({ length: 30 }, (_, i) =>
    quad(`s${i % 5}`, "p", `o${i}`, i % 2 === 0 ? `g${i % 4}` : undefined),
  );
  expect(await triples.write(scope, "late", { insert: rows, source: { source: "doc", part: 1 } })).toEqual({
    inserted: 30,
    removed: 0,
  });
  expect(await triples.write(scope, "late", { insert: rows.slice(0, 10) })).toEqual({ inserted: 0, removed: 0 });
  expect(await triples.usage(scope, "late")).toEqual({ quads: 30, supports: 30, terms: 0 });
  // Orders that the partitions have themselves are never late; the others come from an index.
  expect((await triples.match(scope, "late", { s: iri("s1") })).quads).toHaveLength(6);
  expect((await triples.match(scope, "late", rows[0] as Quad)).quads).toEqual([rows[0]]);
  expect((await triples.match(scope, "late", {})).quads).toHaveLength(30);
  expect((await triples.match(scope, "late", { p: iri("p") })).quads).toEqual([]);
  expect((await triples.graphs(scope, "late")).graphs.toSorted()).toEqual([iri("g0"), iri("g2")]);
  expect(await triples.supports(scope, "late", rows.slice(0, 1))).toEqual([[{ source: "doc", part: 1 }]]);
  expect(await triples.write(scope, "late", { remove: rows.slice(0, 2) })).toEqual({ inserted: 0, removed: 2 });
  expect(await triples.removeSource(scope, "late", "doc")).toEqual({ inserted: 0, removed: 20 });
  expect(await triples.usage(scope, "late")).toEqual({ quads: 8, supports: 0, terms: 0 });
  expect(await triples.purge(scope, "late")).toEqual({ deleted: 8, done: true });
  expect(await triples.usage(scope, "late")).toEqual({ quads: 0, supports: 0, terms: 0 });
  for (let shard = 0; shard < 8; shard += 1) {
    const left = await items.query(scope, "triples", { equals: { space: "late", shard } });
    expect(left.items.map(({ id }) => id)).toEqual(["!state"]);
  }
});

it("a late index never shows what was removed, and shows everything in the end", async () => {
  proxy.lag(0);
  await triples.open(scope, "soon");
  const rows = Array.from({ length: 12 }, (_, i) => quad(`s${i}`, "p", "o", i % 2 === 0 ? "g" : undefined));
  await triples.write(scope, "soon", { insert: rows });
  const seen = async (pattern: { p: string }) => (await triples.match(scope, "soon", pattern)).quads.length;
  while ((await seen({ p: iri("p") })) < 12) await new Promise((resolve) => setTimeout(resolve, 10));
  proxy.lag(never);
  // Its row is still in the index, and is not shown.
  await triples.write(scope, "soon", { remove: rows.slice(0, 4) });
  expect(await seen({ p: iri("p") })).toBe(8);
  expect((await triples.match(scope, "soon", { g: iri("g") })).quads).toHaveLength(4);
});
