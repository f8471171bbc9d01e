import type { AgentInputItem } from "@openai/agents-core";
import { expect, it } from "vitest";
import { canonicalJson, decodeItem, encodeItem } from "./item-codec.ts";

it("what JSON can hold comes back as it was, bytes too, whatever its properties are called", () => {
  const item = {
    type: "unknown",
    providerData: {
      bytes: Uint8Array.from({ length: 300 }, (_, i) => i % 256),
      empty: new Uint8Array(0),
      $bytes: "not bytes",
      $$bytes: { $bytes: "AAAA" },
      list: [null, true, 1.5, "é😀\u0000", { $bytes: 5 }],
    },
  } as unknown as AgentInputItem;
  const stored = JSON.parse(JSON.stringify(encodeItem(item))) as ReturnType<typeof encodeItem>;
  expect(decodeItem(stored)).toEqual(item);
});

it("what it cannot hold becomes what JSON makes of it", () => {
  const item = {
    type: "unknown",
    providerData: { at: new Date(0), none: undefined, nan: Number.NaN, run: () => 1, list: [undefined] },
  } as unknown as AgentInputItem;
  expect(encodeItem(item)).toEqual({
    type: "unknown",
    providerData: { at: "1970-01-01T00:00:00.000Z", nan: null, list: [null] },
  });
});

it("the order of properties does not change the canonical text; that of lists does", () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe(canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});
