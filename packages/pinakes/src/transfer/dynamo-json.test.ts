import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { exactNumber, fromDynamo, isDynamoItem, toDynamo } from "./dynamo-json.ts";

describe("DynamoDB's JSON", () => {
  it("reads every type, and writes each as it was", () => {
    const Item = {
      s: { S: "text" },
      n: { N: "1760351400123" },
      b: { B: "aGVsbG8=" },
      yes: { BOOL: true },
      none: { NULL: true },
      l: { L: [{ S: "a" }, { N: "1.5" }, { L: [] }] },
      m: { M: { "a/b~c": { SS: ["x", "y"] }, empty: { M: {} } } },
      ss: { SS: ["legal-team", "compliance"] },
      ns: { NS: ["1", "2.25"] },
      bs: { BS: ["aGVsbG8="] },
    };
    const { item, types } = fromDynamo({ Item });
    expect(item).toEqual({
      s: "text",
      n: 1_760_351_400_123,
      b: "aGVsbG8=",
      yes: true,
      none: null,
      l: ["a", 1.5, []],
      m: { "a/b~c": ["x", "y"], empty: {} },
      ss: ["legal-team", "compliance"],
      ns: [1, 2.25],
      bs: ["aGVsbG8="],
    });
    expect(toDynamo(item, types)).toEqual({ Item });
    expect(fromDynamo(Item)).toEqual({ item, types });
  });

  it("a set that no longer is one is written as a list", () => {
    const { types } = fromDynamo({ Item: { g: { SS: ["a", "b"] } } });
    expect(toDynamo({ g: [] }, types)).toEqual({ Item: { g: { L: [] } } });
    expect(toDynamo({ g: ["a", "a"] }, types)).toEqual({ Item: { g: { L: [{ S: "a" }, { S: "a" }] } } });
  });

  it("is distinguished from plain items", () => {
    expect(isDynamoItem({ Item: { a: { S: "x" } } })).toBe(true);
    expect(isDynamoItem({ a: { S: "x" }, b: { N: "1" } })).toBe(true);
    expect(isDynamoItem({ collectionId: "c", metadata: { M: {} } })).toBe(false);
    expect(isDynamoItem({ a: { S: "x", N: "1" } })).toBe(false);
    expect(isDynamoItem({})).toBe(false);
  });

  it.each([
    { a: { S: 1 } },
    { a: { N: "one" } },
    { a: { BOOL: "true" } },
    { a: { L: {} } },
    { a: { M: [] } },
    { a: { SS: [1] } },
    { a: { NS: ["x"] } },
    { a: { L: ["x"] } },
  ])("refuses %j", (Item) => {
    expect(() => fromDynamo({ Item })).toThrow(/\/a/);
  });

  it("refuses numbers that would change, and only those", () => {
    for (const exact of ["0", "-0.0", "1", "1.50", "1E+3", "9007199254740991", "0.1", "1e-7", "123456789012345680000"])
      expect(exactNumber(exact, "n")).toBe(Number(exact));
    for (const lost of ["9007199254740993", "0.1000000000000000055", "1e400", "", ".", "0x10", "NaN"])
      expect(() => exactNumber(lost, "n")).toThrow(/n:/);
  });

  it("accepts nesting up to the limit and no deeper", () => {
    const nested = (depth: number): JsonObject => (depth === 0 ? { S: "x" } : { L: [nested(depth - 1)] });
    expect(() => fromDynamo({ Item: { a: nested(limits.documentDepthMax) } })).not.toThrow();
    expect(() => fromDynamo({ Item: { a: nested(limits.documentDepthMax + 1) } })).toThrow(/nested deeper/);
  });

  it("returns any JSON item", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const item = JSON.parse(JSON.stringify(value)) as JsonObject;
        expect(fromDynamo(toDynamo(item))).toEqual({ item, types: {} });
      }),
    );
  });
});
