import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { find, matches } from "./match.ts";
import { compileProgram, type RegexNode } from "./program.ts";

type Node = RegexNode<string>;
const char = (wanted: string): Node => ({ kind: "char", test: (one) => one === wanted });
const seq = (...parts: Node[]): Node => ({ kind: "sequence", parts });
const or = (...parts: Node[]): Node => ({ kind: "choice", parts });
const capture = (number: number, part: Node): Node => ({ kind: "capture", number, part });
const many = (part: Node, min = 0, max = Infinity, lazy = false): Node => ({ kind: "repeat", part, min, max, lazy });
const end: Node = { kind: "assert", test: (_, after) => after === undefined };
const limits = { statesMax: 1_000, tooManyStates: () => new PinakesError("LIMIT_EXCEEDED", "too many states") };

describe("a regular expression", () => {
  it.each<[RegExp, Node]>([
    [/(a*)(b?)/, capture(0, seq(capture(1, many(char("a"))), capture(2, many(char("b"), 0, 1))))],
    [
      /(a+?)(a*)b/,
      capture(0, seq(capture(1, many(char("a"), 1, Infinity, true)), capture(2, many(char("a"))), char("b"))),
    ],
    [
      /(?:(a)|(ab))c?/,
      capture(0, seq(or(capture(1, char("a")), capture(2, seq(char("a"), char("b")))), many(char("c"), 0, 1))),
    ],
    [/(a|b){2,3}$/, capture(0, seq(many(capture(1, or(char("a"), char("b"))), 2, 3), end))],
  ])("agrees with JavaScript: %s", (expected, node) => {
    const program = compileProgram(node, limits);
    for (let number = 0; number < 3 ** 6; number += 1) {
      const text = number.toString(3).padStart(6, "0").replaceAll("0", "a").replaceAll("1", "b").replaceAll("2", "c");
      const chars = Array.from(text);
      const wanted = new RegExp(expected.source, "d").exec(text);
      const slots = wanted?.indices?.flatMap((pair) => pair ?? [-1, -1]);
      expect(find(program, chars, 0, slots?.length ?? 6), text).toEqual(slots);
      expect(matches(program, chars), text).toBe(wanted !== null);
    }
  });

  it("takes linear time where a backtracking matcher never ends", () => {
    const program = compileProgram(seq(many(many(char("a"), 1), 1), end), limits);
    const chars = Array.from(`${"a".repeat(20_000)}b`);
    expect(matches(program, chars)).toBe(false);
    expect(find(program, chars, 0, 0)).toBeUndefined();
  });

  it("has at most so many states", () => {
    expect(() => compileProgram(many(many(char("a"), 100, 100), 100, 100), limits)).toThrow("too many states");
  });
});
