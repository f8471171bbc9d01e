import { afterAll, describe, expect, it } from "vitest";
import { embedderSuite } from "../../testing/embedder-suite.ts";
import type { Embedder, EmbedOptions } from "../../ports/embedder.ts";
import { cachedEmbedder, EmbeddingCache } from "./cached-embedder.ts";
import { openLocalEmbedder } from "./local/index.ts";

embedderSuite("local, cached", async () => cachedEmbedder(await openLocalEmbedder()));

const local = await openLocalEmbedder({ threads: 1 });
afterAll(() => local.close());

/** The real model, recording every requested text. */
function watched(): {
  readonly embedder: Embedder;
  readonly calls: string[][];
  readonly signals: (AbortSignal | undefined)[];
} {
  const calls: string[][] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const embed = (texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]> => {
    calls.push([...texts]);
    signals.push(options?.signal);
    return local.embed(texts, options);
  };
  return {
    embedder: { model: local.model, embed, tokenizer: () => local.tokenizer(), close: async () => {} },
    calls,
    signals,
  };
}

describe("cached embedder", () => {
  it("computes a text once, and only what is missing", async () => {
    const { embedder, calls } = watched();
    const queries = new EmbeddingCache(1_000_000);
    const cached = cachedEmbedder(embedder, { queries });
    const first = await cached.embed(["a", "b", "a"], { kind: "query" });
    const again = await cached.embed(["b", "c", "a"], { kind: "query" });
    expect(calls).toEqual([["a", "b"], ["c"]]);
    expect(again).toEqual(await local.embed(["b", "c", "a"], { kind: "query" }));
    expect(first[0]).toEqual(first[2]);
    expect({ hits: queries.hits, misses: queries.misses, size: queries.size }).toEqual({ hits: 2, misses: 4, size: 3 });
  });

  it("keeps queries and documents apart", async () => {
    const { embedder, calls } = watched();
    const cached = cachedEmbedder(embedder);
    await cached.embed(["a"], { kind: "query" });
    await cached.embed(["a"], { kind: "document" });
    await cached.embed(["a"]);
    expect(calls).toHaveLength(2);
  });

  it("returns copies: changes by a caller stay with the caller", async () => {
    const cached = cachedEmbedder(watched().embedder);
    const [one, two] = await cached.embed(["a", "a"]);
    const [expected] = await local.embed(["a"]);
    one?.fill(0);
    expect(two).toEqual(expected);
    const [three] = await cached.embed(["a"]);
    three?.fill(0);
    expect((await cached.embed(["a"]))[0]).toEqual(expected);
  });

  it("concurrent calls share the work", async () => {
    const { embedder, calls } = watched();
    const cached = cachedEmbedder(embedder);
    const [one, two] = await Promise.all([cached.embed(["a", "b"]), cached.embed(["b", "c"])]);
    expect(calls).toEqual([["a", "b"], ["c"]]);
    expect(one[1]).toEqual(two[0]);
  });

  it("a caller that aborts does not affect the others; when all abort the work ends", async () => {
    const { embedder, signals } = watched();
    const cached = cachedEmbedder(embedder);
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const one = cached.embed(["a"], { signal: first.signal });
    const two = cached.embed(["a"], { signal: second.signal });
    first.abort(new Error("first"));
    await expect(one).rejects.toThrow("first");
    expect(signals[0]?.aborted).toBe(false);
    expect(await two).toHaveLength(1);
    const three = cached.embed(["z"], { signal: third.signal });
    third.abort(new Error("third"));
    await expect(three).rejects.toThrow("third");
    expect(signals[1]?.aborted).toBe(true);
    expect(await cached.embed(["z"])).toHaveLength(1);
  });

  it("does not remember a failure", async () => {
    let failures = 1;
    const cached = cachedEmbedder({
      model: local.model,
      embed: async (texts, options) => {
        failures -= 1;
        if (failures >= 0) throw new Error("not now");
        return local.embed(texts, options);
      },
      tokenizer: () => local.tokenizer(),
      close: async () => {},
    });
    await expect(cached.embed(["a"])).rejects.toThrow("not now");
    expect(await cached.embed(["a"])).toHaveLength(1);
  });
});

describe("embedding cache", () => {
  it("stays within its bytes; the least recently used goes first", () => {
    const vector = new Float32Array(100);
    const bytes = vector.byteLength + 300;
    const cache = new EmbeddingCache(2 * bytes);
    cache.put("a", vector);
    cache.put("b", vector);
    expect({ size: cache.size, bytes: cache.bytes }).toEqual({ size: 2, bytes: 2 * bytes });
    cache.get("a");
    cache.put("c", vector);
    expect(["a", "b", "c"].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    cache.put("c", vector);
    expect({ size: cache.size, bytes: cache.bytes }).toEqual({ size: 2, bytes: 2 * bytes });
  });

  it("a vector that is larger than the whole cache is not kept", () => {
    const cache = new EmbeddingCache(100);
    cache.put("a", new Float32Array(100));
    expect({ size: cache.size, bytes: cache.bytes }).toEqual({ size: 0, bytes: 0 });
  });
});
