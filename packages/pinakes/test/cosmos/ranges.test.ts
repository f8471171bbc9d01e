/** The effective partition key is the client's own, to the bit: it decides to which range a request goes. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { effectiveKey, type KeyDefinition } from "../../src/http/facades/cosmos/ranges/effective-key.ts";
import { rangesOf, within } from "../../src/http/facades/cosmos/ranges/ranges.ts";

const clientHash = join(
  dirname(createRequire(import.meta.url).resolve("@azure/cosmos")),
  "../esm/utils/hashing/hash.js",
);

const values = [
  "",
  "a",
  "x".repeat(99),
  "x".repeat(100),
  "x".repeat(101),
  "ü".repeat(120),
  "日本語",
  0,
  1,
  -1,
  1.5,
  -0,
  1e300,
  -1e-300,
  true,
  false,
  null,
  {},
  Number.MAX_SAFE_INTEGER,
  "abcdefghijklmnopqrstuvwxyz0123456789",
] as const;

it("R-AGT-96 keys of both versions and hierarchical ones hash as in @azure/cosmos", async () => {
  const { hashPartitionKey } = (await import(clientHash)) as {
    hashPartitionKey(key: unknown, definition: KeyDefinition): string;
  };
  for (const value of values) {
    const one: KeyDefinition = { paths: ["/a"], kind: "Hash", version: 1 };
    expect(effectiveKey(one, [value])).toBe(hashPartitionKey([value], one));
    const two: KeyDefinition = { ...one, version: 2 };
    expect(effectiveKey(two, [value])).toBe(hashPartitionKey([value], two));
    const many: KeyDefinition = { paths: ["/a", "/b"], kind: "MultiHash", version: 2 };
    expect(effectiveKey(many, [value, "b"])).toBe(hashPartitionKey([value, "b"], many));
  }
});

it("the ranges cover every key once, at 10,000, 20,000 and one above each", () => {
  for (const version of [1, 2] as const) {
    const key: KeyDefinition = { paths: ["/a"], kind: "Hash", version };
    const counts = [10_000, 10_001, 20_000, 20_001].map((ru) => rangesOf(key, ru).length);
    expect(counts).toEqual([1, 2, 2, 4]);
    const ranges = rangesOf(key, 20_001);
    for (const value of values) {
      const at = effectiveKey(key, [value]);
      expect(ranges.filter((range) => within(range, at))).toHaveLength(1);
    }
  }
});
