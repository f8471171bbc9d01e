import { describe, expect, it } from "vitest";
import { pkOf, pkText, readPk, valueAt } from "./partition-key.ts";

describe("partition keys", () => {
  it("stand in an address so that they come back as they were", () => {
    for (const values of [["eu"], ["[eu"], [5], [true], ["eu", 2024], [""]] as const) {
      const read = readPk(pkText(values));
      expect(Array.isArray(read) ? read : [read]).toEqual(values);
    }
    expect(pkText(["5"])).toBe("5");
    expect(pkText([5])).toBe("[5]");
  });

  it("are refused when they are no list of simple values", () => {
    for (const text of ["[", "[]", "[null]", '[{"a":1}]']) expect(readPk(text)).toBeNull();
  });

  it("are found in a document, also below another property, and not in prototypes", () => {
    expect(pkOf({ a: { b: "x" }, year: 2024 }, ["/a/b", "/year"])).toBe('["x",2024]');
    expect(pkOf({ a: "x" }, ["/b"])).toBeUndefined();
    expect(valueAt({}, "/constructor")).toBeUndefined();
  });
});
