/** The internal limits of the triple stores, at each and one past it. Those that callers set are in the conformance suite. */
import { expect, it } from "vitest";
import type { Quad } from "../domain/rdf.ts";
import { systemScope } from "../domain/scope.ts";
import { openMemoryItems } from "../drivers/memory/index.ts";
import type { TripleStore } from "../ports/triple-store.ts";
import { createTripleStore } from "./create-triple-store.ts";
import { openItemTriples } from "./on-items/index.ts";
import type { SourceRequest, TripleEngine } from "./triple-engine.ts";
import { tripleLimits } from "./triple-limits.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

const system = systemScope("tests of the limits of triples", () => undefined);
const scope = system.forTenant("acme");
const store = forAllTests(async () => openItemTriples({ items: await openMemoryItems(), scope: system }));

const quad = (n: number, words = ""): Quad => ({ s: `<a:s${n}>`, p: "<a:p>", o: `"${words}${n}"`, g: "" });
const quads = (count: number) => Array.from({ length: count }, (_, n) => quad(n));

async function filled(
  space: string,
  insert: readonly Quad[],
  source?: { source: string; part: number },
): Promise<void> {
  await store.open(scope, space);
  await store.write(scope, space, { insert, ...(source === undefined ? {} : { source }) });
}

it("pageQuadsDefault: the size of a page without a limit", async () => {
  const { pageQuadsDefault } = tripleLimits;
  await filled("pages", quads(pageQuadsDefault));
  const at = await store.match(scope, "pages", {});
  expect([at.quads.length, at.cursor]).toEqual([pageQuadsDefault, undefined]);
  await store.write(scope, "pages", { insert: [quad(pageQuadsDefault)] });
  const past = await store.match(scope, "pages", {});
  expect([past.quads.length, typeof past.cursor]).toEqual([pageQuadsDefault, "string"]);
});

it("pageCharsMax: a page of long terms ends early, with a cursor, and the next continues", async () => {
  const { pageCharsMax, termBytesMax } = tripleLimits;
  const words = "x".repeat(termBytesMax - 100);
  const count = Math.ceil(pageCharsMax / words.length) + 20;
  await store.open(scope, "words");
  for (let n = 0; n < count; n += 100)
    await store.write(scope, "words", {
      insert: Array.from({ length: Math.min(100, count - n) }, (_, i) => quad(n + i, words)),
    });
  const first = await store.match(scope, "words", {}, { limit: count });
  const charsOf = (list: readonly Quad[]) =>
    list.reduce((sum, { s, p, o, g }) => sum + s.length + p.length + o.length + g.length, 0);
  expect(first.quads.length).toBeLessThan(count);
  // The quad that passes the bound is the last.
  expect(charsOf(first.quads)).toBeGreaterThanOrEqual(pageCharsMax);
  expect(charsOf(first.quads.slice(0, -1))).toBeLessThan(pageCharsMax);
  const second = await store.match(scope, "words", {}, { limit: count, cursor: first.cursor });
  expect([first.quads.length + second.quads.length, second.cursor]).toEqual([count, undefined]);
});

it("supportsOfQuadMax: the maximum number of supports returned per quad", async () => {
  const { supportsOfQuadMax } = tripleLimits;
  await store.open(scope, "supports");
  const support = (part: number) =>
    store.write(scope, "supports", { insert: [quad(1)], source: { source: "doc.1.1", part } });
  for (let part = 0; part < supportsOfQuadMax; part += 1) await support(part);
  expect((await store.supports(scope, "supports", [quad(1)]))[0]).toHaveLength(supportsOfQuadMax);
  await support(supportsOfQuadMax);
  expect((await store.supports(scope, "supports", [quad(1)]))[0]).toHaveLength(supportsOfQuadMax);
});

/** An engine that only removes, and records how much at once. */
function steps(rows: number): { readonly store: TripleStore; readonly asked: number[] } {
  const asked: number[] = [];
  let left = rows;
  const take = (limit: number) => {
    asked.push(limit);
    const some = Math.min(limit, left);
    left -= some;
    return some;
  };
  const engine = {
    capabilities: { engine: "steps", reads: "strong", atomicQuadsMax: 1, durable: false },
    removeSource: async (_: unknown, __: string, limit: number) => ({ removed: take(limit), done: left === 0 }),
    purge: async (_: unknown, limit: number) => ({ deleted: take(limit), done: left === 0 }),
  };
  return { store: createTripleStore(engine as unknown as TripleEngine), asked };
}

it("removeSourceRowsMax: a source is removed in steps of this many rows, all of it in one call", async () => {
  const { removeSourceRowsMax } = tripleLimits;
  const at = steps(removeSourceRowsMax);
  expect(await at.store.removeSource(scope, "a", "doc")).toEqual({ inserted: 0, removed: removeSourceRowsMax });
  expect(at.asked).toEqual([removeSourceRowsMax]);
  const past = steps(removeSourceRowsMax + 1);
  expect(await past.store.removeSource(scope, "a", "doc")).toEqual({ inserted: 0, removed: removeSourceRowsMax + 1 });
  expect(past.asked).toEqual([removeSourceRowsMax, removeSourceRowsMax]);
});

/** An engine whose only source supports a quad for each `parts`, with that many parts; it records how much is read at once. */
function sourceOf(parts: readonly number[]): { readonly store: TripleStore; readonly asked: number[] } {
  const asked: number[] = [];
  const all = parts.flatMap((count, n) => Array.from({ length: count }, (_, part) => ({ quad: quad(n), part })));
  const rows = all.map((row, i) => ({ ...row, place: String(i + 1) }));
  const engine = {
    capabilities: { engine: "a source", reads: "strong", atomicQuadsMax: 1, durable: false },
    ofSource: async (_: unknown, { after = "0", limit }: SourceRequest) => {
      asked.push(limit);
      const some = rows.slice(Number(after), Number(after) + limit);
      return { rows: some, next: some.length < limit ? undefined : some.at(-1)?.place, examined: some.length };
    },
  };
  return { store: createTripleStore(engine as unknown as TripleEngine), asked };
}

it("sourcePageSupportsMax: a page of a source has this many supports, and a quad with more parts continues on the next", async () => {
  const { sourcePageSupportsMax } = tripleLimits;
  const at = await sourceOf([1, sourcePageSupportsMax - 1]).store.ofSource(scope, "a", "doc");
  expect([at.quads.map(({ parts }) => parts.length), at.cursor, at.examined]).toEqual([
    [1, sourcePageSupportsMax - 1],
    undefined,
    sourcePageSupportsMax,
  ]);
  const { store: past } = sourceOf([1, sourcePageSupportsMax, 1]);
  const first = await past.ofSource(scope, "a", "doc");
  expect([first.quads.map(({ parts }) => parts.length), typeof first.cursor]).toEqual([
    [1, sourcePageSupportsMax - 1],
    "string",
  ]);
  const second = await past.ofSource(scope, "a", "doc", { cursor: first.cursor });
  expect([second.quads, second.cursor]).toEqual([
    [
      { quad: quad(1), parts: [sourcePageSupportsMax - 1] },
      { quad: quad(2), parts: [0] },
    ],
    undefined,
  ]);
});

it("sourceStepRowsMax, sourceStepRowsMin: a page of a source is read in steps between these two sizes", async () => {
  const { sourceStepRowsMax, sourceStepRowsMin } = tripleLimits;
  const ones = (count: number) => sourceOf(Array.from({ length: count }, () => 1));
  const large = ones(sourceStepRowsMax + 10);
  // With the row that tells whether there is more, this fits into one step; one quad more does not.
  await large.store.ofSource(scope, "a", "doc", { limit: sourceStepRowsMax - 1 });
  expect(large.asked.splice(0)).toEqual([sourceStepRowsMax]);
  await large.store.ofSource(scope, "a", "doc", { limit: sourceStepRowsMax });
  expect(large.asked.splice(0)).toEqual([sourceStepRowsMax, sourceStepRowsMin]);
  await large.store.ofSource(scope, "a", "doc", { limit: sourceStepRowsMin });
  expect(large.asked.splice(0)).toEqual([sourceStepRowsMin + 1]);
  for (const limit of [1, sourceStepRowsMin - 1]) {
    const page = await large.store.ofSource(scope, "a", "doc", { limit });
    expect([page.quads.length, page.examined, large.asked.splice(0)]).toEqual([
      limit,
      sourceStepRowsMin,
      [sourceStepRowsMin],
    ]);
  }
});

it("purgeRowsDefault: one call of a purge removes this many rows without a limit, and says whether there are more", async () => {
  const { purgeRowsDefault } = tripleLimits;
  expect(await steps(purgeRowsDefault).store.purge(scope, "a")).toEqual({ deleted: purgeRowsDefault, done: true });
  expect(await steps(purgeRowsDefault + 1).store.purge(scope, "a")).toEqual({ deleted: purgeRowsDefault, done: false });
});
