import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestWord } from "./nearest-word.ts";

describe("nearestWord", () => {
  const known = ["search", "start", "status"];

  it.each([
    ["serch", "a letter too few"],
    ["seaarch", "one too many"],
    ["sesrch", "a wrong one"],
    ["saerch", "two neighbours swapped"],
    ["SEARCH", "another case"],
  ])("%s is one step at most from search: %s", (word) => {
    expect(nearestWord(word, known, 1)).toBe("search");
  });

  it("one step further than allowed is not meant; without a bound something always is, while anything is known", () => {
    expect(nearestWord("serh", known, 2)).toBe("search");
    expect(nearestWord("serh", known, 1)).toBeUndefined();
    expect(nearestWord("zzz", known)).toBeDefined();
    expect(nearestWord("", known, 5)).toBe("start");
    expect(nearestWord("search", [])).toBeUndefined();
  });

  it("of several that are as near it is the first", () => {
    expect(nearestWord("stat", ["stab", "star"])).toBe("stab");
  });

  it("a word that is known is its own nearest, and never more than its letters away from any other", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
        expect(nearestWord(a, [a], 0)).toBe(a);
        expect(nearestWord(a, [b], Math.max(a.length, b.length))).toBe(b);
      }),
    );
  });
});
