import { expect, it } from "vitest";
import { ByteCache } from "./byte-cache.ts";

it("keeps the most recently used entries, within its bytes", () => {
  const cache = new ByteCache<{ readonly bytes: number }>(10);
  cache.put("a", { bytes: 4 });
  cache.put("b", { bytes: 4 });
  expect(cache.get("a")).toEqual({ bytes: 4 });
  cache.put("c", { bytes: 4 });
  expect([cache.get("b"), cache.bytes, cache.size]).toEqual([undefined, 8, 2]);
  cache.put("a", { bytes: 11 });
  expect([cache.get("a"), cache.bytes]).toEqual([undefined, 4]);
});
