import { describe, expect, it } from "vitest";
import { byteLines, decodeLine } from "./lines.ts";

async function linesOf(text: string, chunkBytes: number, lineBytesMax = 8): Promise<string[]> {
  const bytes = Buffer.from(text, "utf8");
  const reused = Buffer.alloc(chunkBytes);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      // A source that reuses its buffer, as object stores do.
      bytes.copy(reused, 0, at);
      yield reused.subarray(0, Math.min(chunkBytes, bytes.length - at));
    }
  }
  const found: string[] = [];
  for await (const line of byteLines(chunks(), { lineBytesMax }))
    found.push(`${line.number}:${line.bytes === undefined ? "too long" : decodeLine(line)}`);
  return found;
}

describe("byteLines", () => {
  it.each([1, 2, 3, 5, 100])("finds every line, in chunks of %i bytes", async (chunkBytes) => {
    expect(await linesOf("a\n\nbé€\nlast", chunkBytes)).toEqual(["1:a", "2:", "3:bé€", "4:last"]);
    expect(await linesOf("a\n", chunkBytes)).toEqual(["1:a"]);
    expect(await linesOf("", chunkBytes)).toEqual([]);
    expect(await linesOf("12345678\n123456789\nb", chunkBytes)).toEqual(["1:12345678", "2:too long", "3:b"]);
    expect(await linesOf("a\n1234567890", chunkBytes)).toEqual(["1:a", "2:too long"]);
  });

  it("reports a line that is too long before its end arrives", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.from("xxxx");
    }
    for await (const line of byteLines(endless(), { lineBytesMax: 100 })) {
      expect(line).toEqual({ number: 1, bytes: undefined, isEnded: false });
      break;
    }
  });
});

describe("decodeLine", () => {
  it("strips a byte order mark from the first line, and rejects what is not UTF-8", () => {
    const bytes = Buffer.from("\uFEFFa", "utf8");
    expect(decodeLine({ number: 1, bytes })).toBe("a");
    expect(decodeLine({ number: 2, bytes })).toBe("\uFEFFa");
    expect(decodeLine({ number: 1, bytes: Buffer.from([0xff]) })).toBeUndefined();
  });
});
