import fc from "fast-check";
import { expect, it } from "vitest";
import { lineBytesMax, readNdjson } from "./ndjson.ts";
import { seriesLimits } from "../series.ts";

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (let i = 1; i < places.length; i += 1) yield bytes.subarray(places[i - 1], places[i]);
}

const read = (text: string | Uint8Array, cuts: readonly number[] = []) => readNdjson(inPieces(Buffer.from(text), cuts));

it("lines are the same however the bytes come, blank ones counted but left out", async () => {
  const part = fc.oneof(
    fc.constant(""),
    fc.constant("  \t"),
    fc.json().map((text) => text.replaceAll("\n", " ")),
    fc.constant("{ broken"),
    fc.constant('"é漢"'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }),
      fc.constantFrom("\n", "\r\n"),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.boolean(),
      async (parts, end, cuts, ended) => {
        const got = await read(parts.join(end) + (ended ? end : ""), cuts);
        const wanted = parts.flatMap((text, i) => (text.trim() === "" ? [] : [{ line: i + 1, text }]));
        expect(got.map(({ line }) => line)).toEqual(wanted.map(({ line }) => line));
        for (const [i, { text }] of wanted.entries()) {
          const line = got[i];
          if (text === "{ broken") expect(line).toMatchObject({ error: { code: "INVALID" } });
          else expect(line).toEqual({ line: wanted[i]?.line, value: JSON.parse(text) as unknown });
        }
      },
    ),
  );
});

it("a mark of the byte order is no part of the first line; what is no UTF-8 is an error of its line", async () => {
  expect(await read("\ufeff1\n2")).toEqual([
    { line: 1, value: 1 },
    { line: 2, value: 2 },
  ]);
  expect(await read(Buffer.from([0x31, 0x0a, 0xff, 0x0a, 0x32]))).toMatchObject([
    { line: 1 },
    { line: 2, error: { code: "INVALID" } },
    { line: 3 },
  ]);
});

it("a line as long as may be is read, a longer one ends everything; so do too many lines", async () => {
  const text = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  expect((await read(text(lineBytesMax)))[0]).toHaveProperty("value");
  await expect(read(text(lineBytesMax + 1))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  expect((await read("1\n".repeat(seriesLimits.ingestLinesMax))).length).toBe(seriesLimits.ingestLinesMax);
  await expect(read("1\n".repeat(seriesLimits.ingestLinesMax + 1))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
});
