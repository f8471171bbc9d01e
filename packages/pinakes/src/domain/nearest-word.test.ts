import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestWord } from "./nearest-word.ts";

describe("nearestWord", () => {
  const known = ["search", "start", "status"];

  it.each([
    ["serch", "a missing letter"],
    ["seaarch", "an extra letter"],
    ["sesrch", "a wrong one"],
    ["saerch", "two swapped letters"],
    ["SEARCH", "another case"],
  ])("%s is at most one edit from search: %s", (word) => {
    expect(nearestWord(word, known, 1)).toBe("search");
  });

  it("a word further than the maximum distance does not match; without a maximum there is always a match unless the list is empty", () => {
    expect(nearestWord("serh", known, 2)).toBe("search");
    expect(nearestWord("serh", known, 1)).toBeUndefined();
    expect(nearestWord("zzz", known)).toBeDefined();
    expect(nearestWord("", known, 5)).toBe("start");
    expect(nearestWord("search", [])).toBeUndefined();
  });

  it("the first of several equally near words wins", () => {
    expect(nearestWord("stat", ["stab", "star"])).toBe("stab");
  });

  it("a known word is its own nearest, and the distance is never more than the length of the longer word", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
        expect(nearestWord(a, [a], 0)).toBe(a);
        expect(nearestWord(a, [b], Math.max(a.length, b.length))).toBe(b);
      }),
    );
  });
});
