import { describe, expect, it } from "vitest";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { blobIds, blobItems, blobOfItems, makeCell, readCells, serialise, type Blob, type Blobs } from "./cells.ts";

const { serde } = new MemorySaver();

async function cellOf(value: unknown, inlineCharsMax?: number) {
  const blobs: Blobs = new Map();
  const cell = makeCell(await serialise(serde, value), blobs, inlineCharsMax);
  return { cell, blobs, read: async () => (await readCells(serde, [cell], (name) => blobs.get(name) as Blob))[0] };
}

describe("cells", () => {
  it("short values are their JSON; those longer than the limit, by one character, become a blob", async () => {
    expect((await cellOf({ a: 1 })).cell).toBe('{"a":1}');
    const at = await cellOf("x".repeat(98), 100);
    expect([at.cell, at.blobs.size]).toEqual([JSON.stringify("x".repeat(98)), 0]);
    const past = await cellOf("x".repeat(99), 100);
    expect([past.cell, past.blobs.size]).toEqual([{ b: expect.any(String) as string }, 1]);
    expect(await past.read()).toBe("x".repeat(99));
  });

  it("the same long text in two values is one blob", async () => {
    const text = "t".repeat(1_000);
    const [one, two] = [await cellOf({ id: 1, text }), await cellOf([text, { nested: text }])];
    expect([...one.blobs.keys()]).toEqual([...two.blobs.keys()]);
    expect([await one.read(), await two.read()]).toEqual([{ id: 1, text }, [text, { nested: text }]]);
  });

  it("bytes and other types are kept as base64", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const { cell, read } = await cellOf(bytes);
    expect(cell).toEqual({ t: "bytes", j: Buffer.from(bytes).toString("base64") });
    expect(await read()).toEqual(bytes);
  });

  it("a blob has as many parts as it needs: one at 65,536 characters, two one past it, and none ends with half a character", () => {
    const parts = (text: string): number[] => {
      const items = blobItems("1-a", text.length > 65_536 ? "h*2" : "h", { text });
      expect(items.map(({ id }) => id)).toEqual(blobIds("1-a", items.length === 1 ? "h" : `h*${items.length}`));
      expect(blobOfItems(items)).toEqual({ text });
      return items.map((item) => (item["x"] as string).length);
    };
    expect(parts("")).toEqual([0]);
    expect(parts("x".repeat(65_536))).toEqual([65_536]);
    expect(parts("x".repeat(65_537))).toEqual([65_536, 1]);
    expect(parts(`${"x".repeat(65_535)}😀`)).toEqual([65_535, 2]);
    expect(blobOfItems([{ x: "a" }, null])).toBeUndefined();
  });
});
