import { describe, expect, it } from "vitest";
import { giveBack } from "./give-back.ts";

describe("imported attributes are exported again", () => {
  it("unchanged, in their own order, if nothing changed", () => {
    const item = { z: 1, a: { spelt: "otherwise" }, unknown: null };
    expect(JSON.stringify(giveBack(item, { a: "same", b: "made up" }, { a: "same", b: "made up" }))).toBe(
      JSON.stringify(item),
    );
  });

  it("changed, added and removed attributes are current", () => {
    expect(giveBack({ a: "old", gone: 1, kept: 2 }, { a: "x", gone: 1 }, { a: "y", added: 3 })).toEqual({
      a: "y",
      kept: 2,
      added: 3,
    });
  });

  it("open maps are compared inside, others as a whole", () => {
    const item = { config: { known: 1, unknown: 2 }, strategy: { size: 1, odd: 2 } };
    const base = { config: { known: 1 }, strategy: { chunkSize: 1 } };
    const fresh = { config: { known: 5 }, strategy: { chunkSize: 9 } };
    expect(giveBack(item, base, fresh)).toEqual({ config: { known: 5, unknown: 2 }, strategy: { chunkSize: 9 } });
  });

  it("attributes of the current state are never restored", () => {
    expect(giveBack({ count: 5, time: 1 }, { count: 2 }, { count: 2 }, new Set(["count", "time"]))).toEqual({
      count: 2,
    });
  });

  it("a name such as __proto__ is an ordinary attribute", () => {
    const item = JSON.parse('{"__proto__":{"admin":true},"a":1}') as { a: number };
    expect(JSON.stringify(giveBack({ ...item }, {}, {}))).toBe('{"__proto__":{"admin":true},"a":1}');
  });
});
