import { describe, expect, it } from "vitest";
import { differencesOf } from "./json-diff.ts";

describe("differences of JSON", () => {
  it("tells changed, added and removed places by their path", () => {
    const before = { phase: "plan", findings: [{ text: "a" }], gone: 1 };
    const after = { phase: "draft", findings: [{ text: "b" }, { text: "c" }], fresh: null };
    expect(differencesOf(before, after)).toEqual([
      { path: "phase", before: "plan", after: "draft" },
      { path: "findings[0].text", before: "a", after: "b" },
      { path: "findings[1]", before: undefined, after: { text: "c" } },
      { path: "gone", before: 1, after: undefined },
      { path: "fresh", before: undefined, after: null },
    ]);
  });

  it("tells nothing of equal values, whatever the order of their names", () => {
    expect(differencesOf({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toEqual([]);
  });

  it("tells a value that became a list as a whole, and does not fall for names of prototypes", () => {
    expect(differencesOf({ a: {} }, { a: [] })).toEqual([{ path: "a", before: {}, after: [] }]);
    expect(differencesOf({}, JSON.parse('{"constructor":1,"__proto__":2}'))).toEqual([
      { path: "constructor", before: undefined, after: 1 },
      { path: "__proto__", before: undefined, after: 2 },
    ]);
  });

  it("stops at its depth, and still knows whether something differs", () => {
    const nest = (depth: number, leaf: unknown): unknown => (depth === 0 ? leaf : { in: nest(depth - 1, leaf) });
    expect(differencesOf(nest(20, 1), nest(20, 2)).map(({ path }) => path.split(".").length)).toEqual([20]);
    expect(differencesOf(nest(40, 1), nest(40, 1))).toEqual([]);
    expect(differencesOf(nest(40, 1), nest(40, 2)).map(({ path }) => path.split(".").length)).toEqual([20]);
  });
});
