import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareUtf8, type JsonScalar } from "../domain/json.ts";
import { idKeyOf, tieBreaker } from "./id-key.ts";
import { afterPrefix, encodeValue, nextKey } from "./key-encoding.ts";

const text = fc
  .string({ unit: "binary", maxLength: 12 })
  .filter((value) => value.isWellFormed() && !value.includes("\0"));
const scalar: fc.Arbitrary<JsonScalar | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  text,
);

function rank(value: JsonScalar | undefined): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === "boolean") return value ? 3 : 2;
  return typeof value === "number" ? 4 : 5;
}

function order(a: JsonScalar | undefined, b: JsonScalar | undefined): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "number") return Math.sign(a - (b as number));
  return typeof a === "string" ? Math.sign(compareUtf8(a, b as string)) : 0;
}

describe("order-preserving keys", () => {
  it("bytes sort as the values do, ascending and descending, alone and in tuples", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(scalar, scalar, fc.boolean()), { minLength: 1, maxLength: 3 }), (fields) => {
        const key = (side: 0 | 1) => Buffer.concat(fields.map((field) => encodeValue(field[side], field[2])));
        const expected =
          fields.map(([a, b, descending]) => (descending ? -order(a, b) : order(a, b))).find((sign) => sign !== 0) ?? 0;
        expect(Math.sign(Buffer.compare(key(0), key(1)))).toBe(Math.sign(expected));
      }),
      { numRuns: 3_000 },
    );
  });

  it("a prefix ends before afterPrefix and nothing lies between a key and its next", () => {
    fc.assert(
      fc.property(scalar, scalar, fc.boolean(), (a, b, descending) => {
        const prefix = encodeValue(a);
        const longer = Buffer.concat([prefix, encodeValue(b, descending)]);
        expect(Buffer.compare(longer, afterPrefix(prefix))).toBe(-1);
        expect(Buffer.compare(nextKey(prefix), longer)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it("compareUtf8 is the order of the UTF-8 bytes", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });

  it("long ids get distinct keys, stay under 260 bytes and can never equal a short id", () => {
    const ids = ["x".repeat(256), `${"x".repeat(256)}y`, "é".repeat(300), "x".repeat(1_023)];
    const keys = ids.map(idKeyOf);
    expect(new Set(keys).size).toBe(ids.length);
    for (const key of keys) {
      const bytes = Buffer.byteLength(key);
      expect(bytes).toBeGreaterThan(255);
      expect(bytes).toBeLessThan(260);
    }
    expect(idKeyOf("x".repeat(255))).toBe("x".repeat(255));
    expect(tieBreaker('["t","p"]', keys[0] as string).length).toBeLessThanOrEqual(98);
    expect(tieBreaker('["t","p"]', "i".repeat(84)).length).toBeLessThanOrEqual(98);
    expect(tieBreaker('["t","p"]', "i")).not.toEqual(tieBreaker('["t","q"]', "i"));
  });
});
