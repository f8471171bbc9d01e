import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { putTogether, sharedCharsMin, takeApart } from "./shared-texts.ts";

const mark = "\u0001";
const long = "l".repeat(sharedCharsMin);

function roundTrip(json: string): string {
  const apart = takeApart(json);
  return apart === undefined ? json : putTogether(apart.text, (place) => apart.shared[place] as string);
}

describe("shared texts", () => {
  it("strings are taken out from their limit on, one shorter stays", () => {
    const shared = (value: unknown) => takeApart(JSON.stringify(value))?.shared;
    expect(shared([long])).toEqual([long]);
    expect(shared(["s".repeat(sharedCharsMin - 1), "and a little more"])).toBeUndefined();
    expect(takeApart(JSON.stringify({ a: long, b: ["x", `${long}\n"quoted\\"`] }))).toEqual({
      text: String.raw`{"a":"\u00010","b":["x","\u00011"]}`,
      shared: [long, `${long}\n"quoted\\"`],
    });
  });

  it("what looks like a mark is told apart from one", () => {
    const values = [
      `${mark}0`,
      `${mark}${mark}1`,
      mark,
      `x"${mark}0`,
      `"${mark}0"`,
      String.raw`"\u00010"`,
      String.raw`\"\u00010"`,
      "\\",
      '\\"',
      long,
      `${mark}${long}`,
    ];
    for (const value of [values, { [mark]: values, [`${mark}0`]: long }, values.join(",")]) {
      const json = JSON.stringify([value, long]);
      expect(takeApart(json)).toBeDefined();
      expect(roundTrip(json)).toBe(json);
    }
  });

  it("strings that stores cannot keep stay where they are, escaped", () => {
    expect(takeApart(JSON.stringify([`${long}\0`, `${long}\ud800`]))).toBeUndefined();
  });

  it("any JSON comes back as it was", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(mark, `${mark}0`, '"', "\\", long),
      fc.array(fc.constantFrom(mark, "0", '"', "\\", ":", long)).map((parts) => parts.join("")),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, text, fc.double(), fc.array(tie("any")), fc.dictionary(text, tie("any"))),
    })).any;
    fc.assert(
      fc.property(
        value,
        (one) => void expect(roundTrip(JSON.stringify([one, long]))).toBe(JSON.stringify([one, long])),
      ),
      { numRuns: 500 },
    );
  });
});
