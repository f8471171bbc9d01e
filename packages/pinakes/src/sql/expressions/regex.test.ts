import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sqlLimits } from "../limits.ts";
import { compileRegex } from "./functions.ts";

describe("REGEXMATCH", () => {
  it("agrees with JavaScript's own expressions wherever both know the pattern", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "\\d",
      "\\w",
      "\\s",
      "\\W",
      ".",
      "[ab]",
      "[^a]",
      "[a-c\\d]",
      "\\.",
      "\\b",
      "^",
      "$",
      "(a|b)",
      "(?:ab)",
      "(a|)",
      "\\x41",
      "\\u0062",
      "é",
      "-",
      "[\\]x-]",
    );
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?");
    const part = fc.tuple(atom, quantifier).map(([one, many]) => (/^(\\b|\^|\$)$/.test(one) ? one : one + many));
    const sequence = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(""));
    const pattern = fc.oneof(
      sequence,
      fc.tuple(sequence, sequence).map(([a, b]) => `${a}|${b}`),
      fc.tuple(sequence, quantifier).map(([a, many]) => `(${a})${many}`),
    );
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "A", "B", "1", " ", "\n", "é", "É", "\u{1f600}", ".", "-", "_"), {
        maxLength: 8,
      })
      .map((chars) => chars.join(""));
    fc.assert(
      fc.property(pattern, text, fc.constantFrom("", "i", "m", "s", "im"), (source, input, flags) => {
        expect(compileRegex(source, flags)(input)).toBe(new RegExp(source, `${flags}u`).test(input));
      }),
      { numRuns: 3_000 },
    );
  });

  it("is not slowed down by patterns that ruin other matchers", () => {
    expect(compileRegex("^(a+)+$", "")(`${"a".repeat(5_000)}b`)).toBe(false);
    expect(compileRegex("(a*)*(a*)*(a*)*c", "")("a".repeat(5_000))).toBe(false);
    expect(compileRegex("((){50}){50}", "")("x")).toBe(true);
    expect(compileRegex("a b # c", "x")("ab#c")).toBe(true);
  });

  it.each([
    ["(a", '"(" without ")"'],
    ["a)", '")" without "("'],
    ["[a", '"[" without "]"'],
    ["*a", '"*" with nothing to repeat'],
    ["a**", "a quantifier after a quantifier"],
    ["a{3,2}", "minimum is greater than its maximum"],
    ["(?=a)", "look-around"],
    ["(?<n>a)", "look-around, named groups or options"],
    ["(a)\\1", "a back reference"],
    ["\\p{L}", "\\p, which is not supported"],
    ["a\\", "a backslash at its end"],
    ["[b-a]", "an invalid character range"],
    ["^*", "a quantifier after an assertion"],
  ])("the pattern %s is refused", (pattern, detail) => {
    expect(() => compileRegex(pattern, "")).toThrow(detail);
  });

  it("has limits on the pattern, its states and the text, and stands at each", () => {
    expect(compileRegex(`a${" ".repeat(sqlLimits.regexCharsMax - 1)}`, "x")("a")).toBe(true);
    expect(() => compileRegex("a".repeat(sqlLimits.regexCharsMax + 1), "")).toThrow(/at most 500/);
    // One state is the end of the expression.
    expect(compileRegex(`a{${sqlLimits.regexStatesMax - 1}}`, "")("a".repeat(sqlLimits.regexStatesMax))).toBe(true);
    expect(() => compileRegex(`a{${sqlLimits.regexStatesMax}}`, "")).toThrow(/more than 500 states/);
    expect(() => compileRegex("((a{99}){99}){99}", "")).toThrow(/more than 500 states/);
    expect(compileRegex("b$", "")(`${"a".repeat(sqlLimits.regexInputCharsMax - 1)}b`)).toBe(true);
    expect(compileRegex("b$", "")(`${"a".repeat(sqlLimits.regexInputCharsMax)}b`)).toBeUndefined();
    expect(() => compileRegex("a", "g")).toThrow(/modifiers are i, m, s and x/);
  });
});
