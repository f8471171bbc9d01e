import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileFilter, type Filter } from "../../domain/filter.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { segmentOf } from "../text/testing.ts";
import { buildColumnSections } from "./build-columns.ts";
import { equalRows, evaluateFilter, matchesAtMost } from "./evaluate.ts";
import { mergeColumnSections } from "./merge-columns.ts";

const strings = fc.constantFrom("", "a", "ab", "b", "bab", "été", "\uffee", "\u{1f600}", "\ud83d", "\ude00x", "10");
const numbers = fc.constantFrom(0, -0, 1, 2, 2.5, -3, 1e300, -1e300, 5e-324);
const scalars = fc.oneof(strings, numbers, fc.boolean(), fc.constant(null));
const names = fc.constantFrom("x", "y", "a.b", "c/d", "~", "/e", "and", "__proto__", "");
const values = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(fc.oneof(scalars, tie("object"), fc.array(scalars, { maxLength: 1 })), { maxLength: 3 }),
    tie("object"),
  ),
  // Entries become own properties, as JSON.parse makes them, even "__proto__".
  object: fc
    .array(fc.tuple(names, tie("value")), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as JsonObject),
}));
const documents = fc.option(values.object, { nil: undefined });
const paths = fc.constantFrom(
  "x",
  "y",
  "x.y",
  "x.x",
  "/x/y",
  "/a.b",
  "c/d",
  "/c~1d",
  "/~0",
  "x./e",
  "/and",
  "/__proto__",
  "nowhere",
  "x.and",
);
const operand = fc.oneof(strings, numbers);
const comparisons = fc
  .record(
    {
      eq: scalars,
      ne: scalars,
      in: fc.array(scalars, { maxLength: 3 }),
      nin: fc.array(scalars, { maxLength: 3 }),
      lt: operand,
      lte: operand,
      gt: operand,
      gte: operand,
      exists: fc.boolean(),
      contains: scalars,
    },
    { requiredKeys: [] },
  )
  .map((all) => Object.fromEntries(Object.entries(all).slice(0, 2)))
  .map((some) => (Object.keys(some).length === 0 ? { exists: true } : some));
const oneOperator = comparisons.map((some) => Object.fromEntries(Object.entries(some).slice(0, 1)));
const filters = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small" },
    fc.tuple(paths, fc.oneof(scalars, comparisons, oneOperator)).map(([path, condition]) => ({ [path]: condition })),
    fc.array(tie("filter"), { maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie("filter"), { maxLength: 3 }).map((or) => ({ or })),
    tie("filter").map((not) => ({ not })),
    fc.tuple(tie("filter"), tie("filter")).map(([a, b]) => ({ ...a, ...b })),
  ),
})).filter;

function segmentWith(metadata: readonly (JsonObject | undefined)[]) {
  const { sections, fields } = buildColumnSections(metadata);
  return segmentOf(sections, metadata.length, fields);
}

describe("evaluateFilter", () => {
  it("finds exactly the rows that compileFilter accepts", () => {
    fc.assert(
      fc.property(
        fc.array(documents, { maxLength: 40 }),
        fc.array(filters, { minLength: 1, maxLength: 5 }),
        (metadata, all) => {
          const segment = segmentWith(metadata);
          for (const filter of all) {
            const passes = compileFilter(filter);
            const expected = metadata.flatMap((document, row) => (passes(document ?? {}) ? [row] : []));
            const found = evaluateFilter(segment, filter);
            expect([...found]).toEqual(expected);
            expect(found.count()).toBe(expected.length);
          }
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it("rejects an invalid filter", () => {
    const segment = segmentWith([{ x: 1 }]);
    expect(() => evaluateFilter(segment, { x: { near: 1 } })).toThrow(/unknown operator/);
    expect(() => evaluateFilter(segment, { x: [1] } as unknown as Filter)).toThrow(/must be a string/);
  });
});

describe("metadata sections", () => {
  it("merged, in any order and with rows left out, are byte for byte those built from the surviving metadata", () => {
    const rows = fc.array(fc.record({ document: documents, order: fc.option(fc.integer(), { nil: undefined }) }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.array(rows, { maxLength: 5 }), (parts) => {
        const survivors = parts
          .flatMap((part, source) => part.map((row, i) => ({ ...row, source, i })))
          .filter(({ order }) => order !== undefined)
          .sort((a, b) => (a.order as number) - (b.order as number));
        const newRows = parts.map((part) => new Int32Array(part.length).fill(-1));
        survivors.forEach(({ source, i }, to) => ((newRows[source] as Int32Array)[i] = to));
        const sources = parts.map((part, i) => ({
          segment: segmentWith(part.map(({ document }) => document)),
          newRow: newRows[i] as Int32Array,
        }));
        expect(mergeColumnSections(sources, survivors.length)).toEqual(
          buildColumnSections(survivors.map(({ document }) => document)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("name fields as a filter does, with the types seen", () => {
    const { fields } = buildColumnSections([{ b: 1, a: { "x.y": [1], z: null } }, { b: "s", and: true }, undefined]);
    expect(fields).toEqual([
      { path: "/a/x.y", types: ["array"] },
      { path: "/and", types: ["boolean"] },
      { path: "a", types: [] },
      { path: "a.z", types: ["null"] },
      { path: "b", types: ["number", "string"] },
    ]);
  });

  it("accept 256 fields, and reject one more", () => {
    const wide = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]));
    expect(buildColumnSections([wide(256)]).fields.length).toBe(256);
    expect(() => buildColumnSections([wide(256), { extra: 1 }])).toThrow(/257 metadata fields, more than 256/);
  });
});

describe("estimates before a filter is evaluated", () => {
  it("bounds the rows that pass, and finds those of one equality in place", () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(documents, { maxLength: 12 }), filters, (metadata, filter) => {
        const segment = segmentWith(metadata);
        const passing = [...evaluateFilter(segment, filter)];
        expect(matchesAtMost(segment, filter)).toBeGreaterThanOrEqual(passing.length);
        const place = equalRows(segment, filter);
        if (place === undefined) return;
        found += 1;
        expect([...new Uint32Array(segment.buffer, place.address, place.count)]).toEqual(passing);
      }),
      { numRuns: 2_000 },
    );
    expect(found).toBeGreaterThan(50);
  });
});
