/** The limits of reading RDF, at each and one past it; those of single terms and of nesting are in hostile.test.ts. */
import { describe, expect, it } from "vitest";
import { blankLabels } from "./blank-labels.ts";
import { decodeUtf8 } from "./read/decode-utf8.ts";
import { rdfLimits } from "./limits.ts";
import { parseJsonld } from "./read/parse-jsonld.ts";
import { QuadSink } from "./read/quad-sink.ts";
import { RdfIds } from "./read/read-xml.ts";
import { readRdf } from "./read/read-rdf.ts";
import { termFactory } from "./read/term-factory.ts";
import { bytesOf, problem, read } from "./test-rdf.ts";

const {
  sliceBytesMax,
  batchQuadsMax,
  expansionFreeCharsMax,
  expansionCharsPerByteMax,
  expansionCharsMax,
  jsonldUnorderedCharsMax,
  jsonPartCharsMax,
  tokenCharsMax,
} = rdfLimits;

describe("what a parser is given, and gives", () => {
  it("sliceBytesMax: bytes are handed on in slices, none of them larger", async () => {
    const sizes = async (bytes: number) =>
      (await Array.fromAsync(decodeUtf8(bytesOf(Buffer.alloc(bytes, "a")), "turtle"))).map(({ length }) => length);
    expect(await sizes(sliceBytesMax)).toEqual([sliceBytesMax]);
    expect(await sizes(sliceBytesMax + 1)).toEqual([sliceBytesMax, 1]);
  });

  it("batchQuadsMax: quads are handed on in batches, none of them larger", () => {
    const sizes = (count: number) => {
      const sink = new QuadSink();
      for (let i = 0; i < count; i += 1) sink.add({ s: "<a:s>", p: "<a:p>", o: `"${i}"`, g: "" });
      return [...sink.take()].map(({ length }) => length);
    };
    expect(sizes(batchQuadsMax)).toEqual([batchQuadsMax]);
    expect(sizes(batchQuadsMax + 1)).toEqual([batchQuadsMax, 1]);
  });
});

describe("rdf:IDs of a document", () => {
  it("rdfIdsMax and rdfIdCharsMax: so many are remembered, and none comes twice", () => {
    const claim = (count: number, length: number) => {
      const ids = new RdfIds();
      for (let i = 0; i < count; i += 1) ids.claim(String(i).padStart(length, "x"));
      return ids;
    };
    const full = claim(rdfLimits.rdfIdsMax, 6);
    expect(() => full.claim("xxxxx7")).toThrow("is used twice");
    expect(() => full.claim("another")).toThrow("more than");
    const length = rdfLimits.rdfIdCharsMax / 1_024;
    expect(() => claim(1_024, length).claim("y")).toThrow("more than");
  });
});

describe("how much longer quads may be than what was read", () => {
  /** Takes quads of so many characters, after so many were read. */
  const take = (read_: number, chars: number) => {
    const sink = new QuadSink();
    sink.reading(read_);
    sink.add({ s: "x".repeat(chars), p: "", o: "", g: "" });
    return sink.size;
  };
  it("expansionFreeCharsMax and expansionCharsPerByteMax: so many, and so many more for each character", () => {
    for (const characters of [0, 1, 1_000]) {
      const allowed = expansionFreeCharsMax + characters * expansionCharsPerByteMax;
      expect(take(characters, allowed)).toBe(1);
      expect(() => take(characters, allowed + 1)).toThrow("many times larger than the input");
    }
  });
  it("expansionCharsMax: never more than this, however much was read", () => {
    expect(take(expansionCharsMax, expansionCharsMax)).toBe(1);
    expect(() => take(expansionCharsMax, expansionCharsMax + 1)).toThrow("many times larger than the input");
  });
});

describe("JSON", () => {
  it("jsonldUnorderedCharsMax: a context may follow what it is about in a document of this length, and not in a longer one", async () => {
    const document = (chars: number) => {
      const [before, after] = [
        '[{"@id":"http://e.org/a","http://e.org/r":{"p":["',
        '"],"@context":{"p":"http://e.org/p"}}}]',
      ];
      // Several strings: one alone would be longer than a term may be.
      const last = chars - before.length - after.length - 4 * (30_000 + 3);
      return `${before}${[...Array.from({ length: 4 }, () => "x".repeat(30_000)), "y".repeat(last)].join('","')}${after}`;
    };
    const { termBytesMax, nestingLevelsMax } = rdfLimits;
    const parse = async (chars: number) => {
      const sink = new QuadSink();
      const text = document(chars);
      expect(text).toHaveLength(chars);
      const factory = termFactory(blankLabels("f"), termBytesMax);
      await parseJsonld([{ text, line: 1 }], sink, { factory, baseIri: undefined, termBytesMax, nestingLevelsMax });
      return sink.size;
    };
    expect(await parse(jsonldUnorderedCharsMax)).toBe(6);
    await expect(parse(jsonldUnorderedCharsMax + 1)).rejects.toThrow("comes before it");
  });

  it("jsonPartCharsMax: a node may be so long, and no longer", async () => {
    const node = (chars: number) => {
      const [before, after] = ['{"@id":"http://e.org/a","http://e.org/p":"x"', "}"];
      return `[${before}${" ".repeat(chars - before.length - after.length)}${after}]`;
    };
    expect(await read("jsonld", node(jsonPartCharsMax))).toHaveLength(1);
    expect(await problem("jsonld", node(jsonPartCharsMax + 1))).toContain(`longer than ${jsonPartCharsMax} characters`);
  });

  it("tokenCharsMax: a string is looked for its end so far, and no further", async () => {
    const text = (chars: number) => `[{"s":"${"a".repeat(chars)}","p":"a:p","o":"a:o"}]`;
    // Both are too long for a term; the first is read to its end all the same.
    expect(await problem("json", text(tokenCharsMax - 2))).not.toContain("does not end within");
    expect(await problem("json", text(tokenCharsMax + 1))).toContain(`does not end within ${tokenCharsMax} characters`);
  });
});

it("termBytesMax and nestingLevelsMax of a caller: the smallest and the largest are taken", async () => {
  const options = [
    { termBytesMax: rdfLimits.termBytesMin },
    { termBytesMax: rdfLimits.termBytesMax },
    { nestingLevelsMax: rdfLimits.nestingLevelsMax },
  ];
  for (const limits of options) {
    const batches = await Array.fromAsync(
      readRdf(bytesOf("<a:s> <a:p> <a:o> ."), { format: "turtle", blankPrefix: "f", limits }),
    );
    expect(batches.flat()).toHaveLength(1);
  }
});
