import { describe, expect, it } from "vitest";
import { KnownThread, ThreadCache } from "./thread-cache.ts";

describe("what is known of threads", () => {
  it("the threads used last stay, within the limit; the one in use stays however large it is", () => {
    const cache = new ThreadCache(11_000);
    for (const id of ["a", "b", "c"]) cache.set(id, new KnownThread("1-x")).addBlob("h", { text: "t".repeat(1_500) });
    expect(["a", "b", "c"].map((id) => cache.get(id) !== undefined)).toEqual([true, true, true]);
    cache.get("a");
    cache.set("d", new KnownThread("1-x")).addBlob("h", { text: "t".repeat(1_500) });
    cache.get("d");
    expect(["a", "b", "c", "d"].map((id) => cache.get(id) !== undefined)).toEqual([true, false, true, true]);
    cache.get("d")?.addBlob("large", { text: "t".repeat(20_000) });
    expect(cache.get("d")).toBeDefined();
    expect(["a", "b", "c"].map((id) => cache.get(id))).toEqual([undefined, undefined, undefined]);
  });

  it("another life knows nothing of the one before", () => {
    const cache = new ThreadCache(10_000);
    cache.of("a", "1-x").addBlob("h", { text: "t" });
    expect(cache.of("a", "1-x").blob("h")).toEqual({ text: "t" });
    expect(cache.of("a", "2-y").blob("h")).toBeUndefined();
    expect(cache.of("a", "1-x").blob("h")).toBeUndefined();
  });
});
