import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import type { FieldHeader } from "../segment-bytes.ts";
import { checkFilterFields } from "./check-filter.ts";

const fields: readonly FieldHeader[] = [
  { path: "author", types: ["string", "null"] },
  { path: "year", types: ["number"] },
  { path: "year", types: ["null"] },
  { path: "public", types: ["boolean"] },
  { path: "tags", types: ["array"] },
  { path: "source", types: [] },
  { path: "source.lang", types: ["string"] },
  { path: "/a.b", types: ["number"] },
];

function detailOf(filter: Filter, known = fields): string {
  try {
    checkFilterFields(filter, known);
  } catch (error) {
    expect(PinakesError.isInstance(error) && error.code).toBe("INVALID");
    return (error as Error).message;
  }
  return "accepted";
}

describe("checkFilterFields", () => {
  it("accepts fields that exist with operands of their types", () => {
    const filters: Filter[] = [
      { author: "x", year: { gte: 1, lt: 2.5 }, public: true },
      { tags: { contains: "x" }, author: { contains: "y" } },
      { year: { in: [1, 2, null] }, "source.lang": { ne: "en" }, "/source/lang": "en", "/a.b": 1 },
      { source: { exists: true }, tags: { exists: false } },
      { public: null, tags: null, source: null },
      { or: [{ not: { author: "x" } }, { and: [{ year: 3 }] }] },
      {},
    ];
    for (const filter of filters) expect(detailOf(filter)).toBe("accepted");
  });

  it("names an unknown field, the known ones and a near miss, at any depth", () => {
    expect(detailOf({ or: [{ year: 1 }, { not: { autor: "x" } }] })).toBe(
      'filter.or[1].not.autor: no row has a field "autor". Did you mean "author"? ' +
        'Known fields: "/a.b", "author", "public", "source", "source.lang", "tags", "year".',
    );
    expect(detailOf({ Year: 1 })).toContain('Did you mean "year"?');
    expect(detailOf({ lang: "en" })).toContain('Did you mean "source.lang"?');
    expect(detailOf({ somethingElse: { exists: false } })).not.toContain("Did you mean");
    expect(detailOf({ x: 1 }, [])).toBe('filter.x: no row has a field "x"; no row of the collection has metadata yet.');
    const many = Array.from({ length: 25 }, (_, i) => ({ path: `f${i}`, types: ["number" as const] }));
    expect(detailOf({ zzzz: 1 }, many)).toMatch(/and 5 more\.$/);
  });

  it("names field, operator and types if the field never has the operand's type", () => {
    expect(detailOf({ year: { gt: "abc" } })).toBe(
      'filter.year: gt got the string "abc", but field "year" only contains numbers or null; give a number.',
    );
    expect(detailOf({ public: { contains: "x" } })).toBe(
      'filter.public: contains got the string "x", but field "public" only contains booleans; contains needs strings or arrays.',
    );
    expect(detailOf({ tags: "x" })).toBe(
      'filter.tags: eq got the string "x", but field "tags" only contains arrays; for an element of the array use { "contains": … }.',
    );
    expect(detailOf({ source: "x" })).toContain('only contains objects; name a property of it, such as "source.lang"');
    expect(detailOf({ author: { contains: 3 } })).toContain("contains got the number 3");
    expect(detailOf({ year: { nin: [1, true] } })).toContain("nin got the boolean true");
    expect(detailOf({ year: { contains: null } })).toContain("contains got the value null");
  });

  it("rejects an invalid filter", () => {
    expect(detailOf({ year: { near: 1 } })).toContain("unknown operator");
  });
});
