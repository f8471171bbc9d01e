/** What an engine drops early surely does not match, however hostile the documents; and it does drop. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileFilter } from "../../src/domain/filter.ts";
import { compareUtf8, type JsonObject, type JsonScalar, type JsonValue } from "../../src/domain/json.ts";
import { limits } from "../../src/domain/limits.ts";
import { valueAt } from "../../src/domain/path.ts";
import { prefilterOf, type Prefilter } from "../../src/domain/prefilter.ts";
import { tenantScope, type Scope } from "../../src/domain/scope.ts";
import type { ItemStore, Query } from "../../src/ports/item-store.ts";
import { everyPage } from "../../src/containers/every-item.ts";
import { engines } from "./support/engines.ts";

const names = ["sqlite", "postgres"] as const;
const store = engines(
  { name: "hostile", partitionKey: ["p"], indexes: { all: { partition: [], sort: ["id"] } } },
  names,
);

const keys = [
  "a",
  "b",
  "0",
  "",
  "a.b",
  'q"uote',
  "it's",
  "back\\slash",
  "é",
  "\u{1f600}",
  "$",
  "*",
  "[0]",
  "__proto__",
  "constructor",
  "new\nline",
  "\u2028",
  "\ud800",
];
const texts = [
  "",
  "null",
  "true",
  "1",
  "1.0",
  "a",
  "A",
  "ab",
  "é",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "\ufffd",
  "\u{1f600}",
  "\ud800",
  "\udc00x",
  "a\u0001",
  '\t\n\\"/',
  "\\ud800",
  "\\u0000",
  "[1]",
  '{"a":1}',
  "x".repeat(3_000),
];
const numbers = [
  0,
  -0,
  1,
  -1,
  0.1,
  0.30000000000000004,
  0.3,
  1.0000000000000002,
  4.999999999999999,
  5,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1.7976931348623157e308,
  -1e308,
  5e-324,
  2.2250738585072014e-308,
  123_456_789.123_456_78,
  9.5e-7,
];
const scalar: fc.Arbitrary<JsonScalar> = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(...numbers),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(true, false, null),
  fc.string(),
);
const deep = JSON.parse(`${"[".repeat(60)}1${"]".repeat(60)}`) as JsonValue;
// Most often the same name, so that values meet.
const key = fc.oneof({ weight: 2, arbitrary: fc.constant("a") }, fc.constantFrom(...keys));

const object = (values: fc.Arbitrary<JsonValue>) =>
  fc.array(fc.tuple(key, values), { maxLength: 6 }).map((entries) => Object.fromEntries(entries) as JsonObject);
const nested = fc.oneof(
  { weight: 6, arbitrary: scalar },
  fc.constant(deep),
  fc.array(scalar, { maxLength: 3 }),
  object(scalar),
);
const documents = fc.array(object(fc.oneof({ weight: 4, arbitrary: nested }, object(nested))), {
  minLength: 4,
  maxLength: 25,
});
// NUL is refused when it is written; the rest must be kept and found.
const storable = documents.map((list) =>
  list
    .filter((document) => !JSON.stringify(document).includes("\\u0000"))
    .map((document, i) => ({ ...document, id: `d${i}`, p: "p" })),
);

const path = fc.oneof(fc.tuple(key), fc.tuple(key, key));
const leaf: fc.Arbitrary<Prefilter> = fc.oneof(
  fc.record({ kind: fc.constant("in" as const), path, values: fc.array(scalar, { maxLength: 4 }) }),
  fc.record({
    kind: fc.constant("range" as const),
    path,
    operator: fc.constantFrom("lt" as const, "lte" as const, "gt" as const, "gte" as const),
    value: fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...numbers)),
  }),
  fc.record({ kind: fc.constant("prefix" as const), path, prefix: fc.constantFrom(...texts) }),
  fc.record({ kind: fc.constant("exists" as const), path }),
);
const prefilter: fc.Arbitrary<Prefilter> = fc.letrec<{ node: Prefilter }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    { weight: 3, arbitrary: leaf },
    fc.record({
      kind: fc.constantFrom("all" as const, "any" as const),
      parts: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
    }) as fc.Arbitrary<Prefilter>,
  ),
})).node;

/** What a prefilter means, exactly. */
function holds(test: Prefilter, document: JsonObject): boolean {
  if (test.kind === "all") return test.parts.every((part) => holds(part, document));
  if (test.kind === "any") return test.parts.some((part) => holds(part, document));
  const value = valueAt(document, test.path);
  if (test.kind === "exists") return value !== undefined;
  if (test.kind === "in") return test.values.some((entry) => entry === value);
  if (test.kind === "prefix") return typeof value === "string" && value.startsWith(test.prefix);
  if (typeof value !== typeof test.value) return false;
  const order =
    typeof value === "string" ? compareUtf8(value, test.value as string) : (value as number) - (test.value as number);
  return { lt: order < 0, lte: order <= 0, gt: order > 0, gte: order >= 0 }[test.operator];
}

const propertyRuns = 60;
let tenants = 0;
async function filled(items: ItemStore, list: readonly JsonObject[]): Promise<Scope> {
  const scope = tenantScope(`t${(tenants += 1)}`);
  for (let from = 0; from < list.length; from += 25) {
    await items.batch(
      scope,
      "hostile",
      ["p"],
      list.slice(from, from + 25).map((document) => ({ op: "create", document })),
    );
  }
  return scope;
}

async function ids(
  items: ItemStore,
  scope: Scope,
  query: Partial<Query>,
): Promise<{ ids: string[]; examined: number }> {
  const found: string[] = [];
  let examined = 0;
  for await (const page of everyPage(items, scope, "hostile", { equals: { p: "p" }, resumable: true, ...query })) {
    found.push(...page.items.map(({ id }) => id));
    examined += page.examined as number;
  }
  return { ids: found, examined };
}

describe.each(names)("on %s", (name) => {
  it("R-AGT-58 a prefilter drops nothing that matches, by partition and by index, both ways, on any page", async () => {
    let dropped = 0;
    await fc.assert(
      fc.asyncProperty(
        storable,
        fc.array(fc.tuple(prefilter, fc.integer({ min: 1, max: 30 }), fc.boolean(), fc.boolean()), {
          minLength: 6,
          maxLength: 6,
        }),
        async (list, tests) => {
          const scope = await filled(store(name), list);
          for (const [test, limit, byIndex, turned] of tests) {
            const query: Partial<Query> = {
              prefilter: test,
              limit,
              ...(byIndex ? { index: "all", equals: {} } : {}),
              ...(turned ? { order: "desc" as const } : {}),
            };
            const answer = await ids(store(name), scope, query);
            const must = list.filter((document) => holds(test, document)).map(({ id }) => id);
            expect(must.filter((id) => !answer.ids.includes(id))).toEqual([]);
            expect(new Set(answer.ids).size).toBe(answer.ids.length);
            // Honest, whatever was dropped: every row of the range was looked at, some twice where a page ended before it.
            expect(answer.examined).toBeGreaterThanOrEqual(list.length);
            dropped += list.length - answer.ids.length;
          }
        },
      ),
      { numRuns: propertyRuns },
    );
    expect(dropped).toBeGreaterThan(500);
  });

  it("R-AGT-58 every hostile value is found by every comparison that it meets, under plain and odd names", async () => {
    const values: readonly JsonValue[] = [...texts, ...numbers, true, false, null, [1], { a: 1 }, deep];
    const odd = ["a", 'q"uote', "a.b", "é", "0"];
    const list = values.flatMap((value, i) =>
      odd.map((at, j) => ({ id: `d${i}-${j}`, p: "p", [at]: value, in: { [at]: value } })),
    );
    const scope = await filled(store(name), list);
    const bounds = [...texts, ...numbers];
    const tests = odd.flatMap((at) =>
      [[at], ["in", at]].flatMap((way): Prefilter[] => [
        { kind: "exists", path: way },
        ...[...bounds, true, false, null].map((value) => ({ kind: "in" as const, path: way, values: [value] })),
        ...texts.map((prefix) => ({ kind: "prefix" as const, path: way, prefix })),
        ...(["lt", "lte", "gt", "gte"] as const).flatMap((operator) =>
          bounds.map((value) => ({ kind: "range" as const, path: way, operator, value })),
        ),
      ]),
    );
    const answers = await Promise.all(tests.map((test) => ids(store(name), scope, { prefilter: test, limit: 1_000 })));
    let dropped = 0;
    for (const [i, answer] of answers.entries()) {
      const test = tests[i] as Prefilter;
      const found = new Set(answer.ids);
      const lost = list.filter((document) => holds(test, document) && !found.has(document.id));
      expect(lost, JSON.stringify(test)).toEqual([]);
      dropped += list.length - found.size;
    }
    expect(dropped).toBeGreaterThan((tests.length * list.length) / 4);
  });

  it("R-AGT-58 a filter of the item store, which the engine is now told of, still gives exactly what it says", async () => {
    const word = fc.constantFrom("a", "b", "é", "/a.b", "a.b", '/q"uote/a', "/__proto__");
    const comparison = fc.oneof(
      scalar,
      fc.record({ in: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
      fc.record({ ne: scalar }),
      fc.record({ exists: fc.boolean() }),
      fc.record({
        gte: fc.constantFrom(...texts.slice(0, 12), ...numbers),
        lt: fc.constantFrom(...texts.slice(0, 12), ...numbers),
      }),
    );
    const simple = fc.tuple(word, comparison).map(([at, value]) => ({ [at]: value }));
    const filter = fc.oneof(
      simple,
      fc.record({ or: fc.array(simple, { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: simple }),
      fc.tuple(simple, simple).map((and) => ({ and })),
    );
    await fc.assert(
      fc.asyncProperty(storable, fc.array(filter, { minLength: 6, maxLength: 6 }), async (list, filters) => {
        const scope = await filled(store(name), list);
        for (const test of filters) {
          const matches = compileFilter(test);
          const expected = list.filter((document) => matches(document)).map(({ id }) => id);
          expect((await ids(store(name), scope, { filter: test, limit: 7 })).ids.toSorted()).toEqual(
            expected.toSorted(),
          );
          expect(await store(name).count(scope, "hostile", { equals: { p: "p" }, filter: test })).toBe(expected.length);
        }
      }),
      { numRuns: propertyRuns },
    );
  });

  it("a page looks at no more rows than its budget, whatever a prefilter drops, and goes on behind them", async () => {
    const items = store(name);
    const scope = tenantScope(`budget-${name}`);
    const count = limits.pageRowsExaminedMax + 1;
    for (let from = 0; from < count; from += 100) {
      const operations = Array.from({ length: Math.min(100, count - from) }, (_, i) => {
        const id = String(from + i).padStart(6, "0");
        return { op: "create", document: { id, p: "p", last: from + i === count - 1 } } as const;
      });
      await items.batch(scope, "hostile", ["p"], operations);
    }
    const query: Query = {
      equals: { p: "p" },
      prefilter: { kind: "in", path: ["last"], values: [true] },
      resumable: true,
    };
    const first = await items.query(scope, "hostile", query);
    expect(first).toMatchObject({ items: [], examined: limits.pageRowsExaminedMax });
    const second = await items.query(scope, "hostile", { ...query, cursor: first.cursor });
    expect(second.items.map(({ id }) => id)).toEqual([String(count - 1).padStart(6, "0")]);
    expect(second.examined).toBe(1);
    expect(second.cursor).toBeUndefined();
  });
});

describe("the prefilter of a filter", () => {
  it("says what is sure and leaves the rest out", () => {
    expect(prefilterOf({ a: 1, b: { gte: "x", ne: "y" }, not: { c: 1 } })).toEqual({
      kind: "all",
      parts: [
        { kind: "in", path: ["a"], values: [1] },
        { kind: "range", path: ["b"], operator: "gte", value: "x" },
      ],
    });
    expect(prefilterOf({ or: [{ a: 1 }, { b: { contains: "x" } }] })).toBeUndefined();
    expect(prefilterOf({ or: [] })).toBeUndefined();
    expect(prefilterOf({ a: { exists: false } })).toBeUndefined();
  });
});
