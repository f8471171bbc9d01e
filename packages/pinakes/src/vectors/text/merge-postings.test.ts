import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyzerFor } from "./analyzer.ts";
import { buildTextSections } from "./build-postings.ts";
import { mergeTextSections } from "./merge-postings.ts";
import { TextIndex } from "./text-index.ts";
import { segmentOf } from "./testing.ts";

const analyzer = analyzerFor("none");
const word = fc.constantFrom(
  "a",
  "b",
  "cat",
  "dog-house",
  "été",
  "東京",
  "\u{10400}\u{10401}",
  "\uffee",
  "zz",
  "y".repeat(70),
);
const text = fc.option(
  fc.array(word, { maxLength: 12 }).map((words) => words.join(" ")),
  { nil: undefined },
);

describe("text sections", () => {
  it("merged, in any order and with rows left out, are byte for byte those built from the surviving texts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.record({ text, order: fc.option(fc.integer(), { nil: undefined }) }), { maxLength: 60 }), {
          maxLength: 5,
        }),
        (parts) => {
          const survivors = parts
            .flatMap((rows, source) => rows.map((row, i) => ({ ...row, source, i })))
            .filter(({ order }) => order !== undefined)
            .sort((a, b) => (a.order as number) - (b.order as number));
          const newRows = parts.map((rows) => new Int32Array(rows.length).fill(-1));
          survivors.forEach(({ source, i }, to) => ((newRows[source] as Int32Array)[i] = to));
          const sources = parts.map((rows, i) => {
            const { sections } = buildTextSections(
              rows.map((row) => row.text),
              analyzer,
            );
            return { segment: segmentOf(sections, rows.length), newRow: newRows[i] as Int32Array };
          });
          const merged = mergeTextSections(sources, survivors.length);
          expect(merged).toEqual(
            buildTextSections(
              survivors.map((row) => row.text),
              analyzer,
            ),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it("merge many rows of one term that arrive out of order", () => {
    const texts = Array.from(
      { length: 3_000 },
      (_, i) => `common ${i % 7 === 0 ? "common ".repeat(i % 200) : ""} w${i % 50}`,
    );
    const { sections } = buildTextSections(texts, analyzer);
    const newRow = Int32Array.from(texts, (_, i) => (i * 1_009) % 3_000);
    const moved: string[] = [];
    texts.forEach((each, i) => (moved[newRow[i] as number] = each));
    expect(mergeTextSections([{ segment: segmentOf(sections, 3_000), newRow }], 3_000)).toEqual(
      buildTextSections(moved, analyzer),
    );
  });

  it("hold every term with its rows and counts, found by binary search", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 300 }), (texts) => {
        const index = new TextIndex(segmentOf(buildTextSections(texts, analyzer).sections, texts.length));
        const expected = new Map<string, [number, number][]>();
        texts.forEach((each, row) => {
          const counts = Map.groupBy(analyzer.tokens(each ?? ""), (token) => token);
          for (const [token, all] of counts) expected.set(token, [...(expected.get(token) ?? []), [row, all.length]]);
        });
        expect(index.frequencies.length).toBe(expected.size);
        for (const [term, list] of expected) expect(postingsOf(index, term)).toEqual(list);
        expect(index.find(Buffer.from("nowhere"))).toBe(-1);
      }),
    );
  });
});

function postingsOf(index: TextIndex, term: string): [number, number][] {
  const number = index.find(Buffer.from(term));
  const found: [number, number][] = [];
  const rows = new Uint32Array(128);
  const counts = new Uint32Array(128);
  for (let block = index.first[number] as number; block < (index.first[number + 1] as number); block += 1) {
    const count = index.decode(number, block, rows, counts);
    for (let i = 0; i < count; i += 1) found.push([rows[i] as number, counts[i] as number]);
  }
  return found;
}
