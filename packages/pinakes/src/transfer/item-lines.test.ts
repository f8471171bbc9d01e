import { gzipSync } from "node:zlib";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { readItems, itemLine, parseItem, tableBody } from "./item-lines.ts";
import { transferLimits } from "./limits.ts";

async function* inPieces(bytes: Uint8Array, piece: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}

const read = (content: string | Uint8Array, piece = 7) =>
  Array.fromAsync(readItems(inPieces(Buffer.from(content as string), piece)));
const item = (value: object) => ({ parsed: { item: value, types: {} } });

describe("lines of a table", () => {
  const mixed = '\uFEFF{"a":1}\n\n{"Item":{"a":{"N":"2"}}}\r\nnot json\n[1]\n{"a":"ü"}';
  const expected = [
    { line: 1, ...item({ a: 1 }) },
    { line: 3, ...item({ a: 2 }) },
    { line: 4, problem: expect.stringContaining("not JSON") },
    { line: 5, problem: "The line is not an object." },
    { line: 6, ...item({ a: "ü" }) },
  ];

  it.each([1, 7, 1_000])("plain and DynamoDB's lines in one file, in chunks of %d bytes", async (piece) => {
    expect(await read(mixed, piece)).toEqual(expected);
  });

  it("compressed files, whatever their name", async () => {
    expect(await read(gzipSync(mixed), 3)).toEqual(expected);
  });

  it("a damaged compressed file ends with a problem, and the items before it count", async () => {
    const whole = gzipSync(`{"a":1}\n${"x".repeat(200_000)}`);
    const found = await read(whole.subarray(0, whole.length - 12), 64);
    expect(found.at(0)).toEqual({ line: 1, ...item({ a: 1 }) });
    expect(found.at(-1)?.problem).toContain("cannot be decompressed");
  });

  it("text that is not UTF-8 is a problem of its line only", async () => {
    const found = await read(Buffer.concat([Buffer.from([0x22, 0xff, 0x0a]), Buffer.from('{"a":1}')]));
    expect(found).toEqual([
      { line: 1, problem: expect.stringContaining("not JSON") },
      { line: 2, ...item({ a: 1 }) },
    ]);
  });

  it("a line at the limit is read, one past it is reported", async () => {
    const line = (bytes: number) => `{"a":1}${" ".repeat(bytes - 7)}`;
    const found = await read(
      `${line(transferLimits.lineBytesMax)}\n${line(transferLimits.lineBytesMax + 1)}\n{"a":2}\n`,
      1_000_003,
    );
    expect(found).toEqual([
      { line: 1, ...item({ a: 1 }) },
      { line: 2, problem: expect.stringContaining("longer than") },
      { line: 3, ...item({ a: 2 }) },
    ]);
  });

  it("a decompressed table at its limit is read completely; one past it is refused", async () => {
    const table = '{"a":1}\n{"a":2}\n';
    const limited = (bytesMax: number) => Array.fromAsync(readItems(inPieces(gzipSync(table), 5), bytesMax));
    expect(await limited(table.length)).toHaveLength(2);
    await expect(limited(table.length - 1)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it("an item at the limit is read, one past it is reported", () => {
    const sized = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - 8) });
    expect(parseItem(sized(transferLimits.itemBytesMax)).item).toBeDefined();
    expect(() => parseItem(sized(transferLimits.itemBytesMax + 1))).toThrow(/limit is 409600/);
  });

  it("a number that JSON would change is refused in plain lines, too", () => {
    expect(() => parseItem('{"a":9007199254740993}')).toThrow(/preserves exactly/);
    expect(parseItem('{"a":1e3}').item).toEqual({ a: 1000 });
  });

  it("a name such as __proto__ is an ordinary attribute", () => {
    const { item: parsed } = parseItem('{"__proto__":{"x":1}}');
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"x":1}}');
  });

  it.each([false, true])("an error of the lines is an error of the body (compressed: %s)", async (gzip) => {
    async function* broken(): AsyncGenerator<string> {
      yield itemLine({ a: 1 }, "json");
      throw new Error("the store is away");
    }
    await expect(text(tableBody(broken(), gzip))).rejects.toThrow("the store is away");
  });
});
