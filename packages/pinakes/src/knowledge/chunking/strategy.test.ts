import { describe, expect, it } from "vitest";
import { hasCode } from "../../domain/errors.ts";
import { catalogChunking, chunkingLimits, readChunkingStrategy, systemChunking } from "./strategy.ts";

function refusal(input: unknown): string {
  try {
    readChunkingStrategy(input);
  } catch (error) {
    if (hasCode(error, "INVALID")) return error.detail;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(input)}`);
}

/** The chunkingStrategy of the example item in LISA's schema document, verbatim. */
const seedExample = { type: "RECURSIVE", chunkSize: 1000, chunkOverlap: 200, separators: ["\n\n", "\n", ". ", " "] };

describe("the shapes of a chunking strategy", () => {
  it("R-LISA-13 takes the example of the schema document and keeps the order of the separators", () => {
    expect(readChunkingStrategy(seedExample)).toEqual({
      type: "RECURSIVE",
      unit: "char",
      chunk_size: 1000,
      chunk_overlap: 200,
      separators: ["\n\n", "\n", ". ", " "],
    });
  });

  it("R-LISA-13 reads the same from flat snake case, flat camel case, parameters, and size/overlap", () => {
    const canonical = {
      type: "RECURSIVE",
      unit: "char",
      chunk_size: 500,
      chunk_overlap: 50,
      separators: [" ", "\n", "\n\n"],
    };
    const { separators } = canonical;
    expect(readChunkingStrategy(canonical)).toEqual(canonical);
    expect(readChunkingStrategy({ type: "RECURSIVE", chunkSize: 500, chunkOverlap: 50, separators })).toEqual(
      canonical,
    );
    expect(
      readChunkingStrategy({ type: "recursive", parameters: { chunkSize: 500, chunkOverlap: 50, separators } }),
    ).toEqual(canonical);
    expect(readChunkingStrategy({ type: "Recursive", size: 500, overlap: 50, separators })).toEqual(canonical);
    expect(
      readChunkingStrategy({
        type: "recursive",
        separators,
        parameters: { chunk_size: 500, overlap: 50, unit: "char" },
      }),
    ).toEqual(canonical);
  });

  it.each([
    { type: "FIXED", chunkSize: 100, chunkOverlap: 50 },
    { type: "FIXED", unit: "token", size: 256, overlap: 0 },
    { type: "RECURSIVE", separators: ["b", "a", "b"] },
    { type: "token" },
    { type: "SENTENCE", unit: "token" },
    { type: "markdown", parameters: { chunkSize: 2000 } },
    { type: "SEMANTIC", threshold: 0.25 },
    { type: "none" },
    { type: "NONE", chunkSize: 5, unit: "token" },
  ])("R-LISA-13 a normalized strategy reads as itself, through JSON too: %j", (input) => {
    const once = readChunkingStrategy(input);
    expect(readChunkingStrategy(JSON.parse(JSON.stringify(once)))).toEqual(once);
  });

  it("fills in missing fields, with the defaults' share of overlap", () => {
    expect(readChunkingStrategy({ type: "RECURSIVE" })).toEqual(systemChunking);
    expect(readChunkingStrategy({ type: "TOKEN" })).toEqual(catalogChunking);
    expect(readChunkingStrategy({ type: "FIXED", chunk_size: 100 })).toMatchObject({
      chunk_size: 100,
      chunk_overlap: 20,
    });
    expect(readChunkingStrategy({ type: "FIXED", unit: "token", chunk_size: 99 })).toMatchObject({
      chunk_size: 99,
      chunk_overlap: 9,
    });
    expect(readChunkingStrategy({ type: "SEMANTIC", separators: null, threshold: null })).toMatchObject({
      threshold: 0.6,
    });
    expect(readChunkingStrategy({ type: "NONE", chunk_size: 1000 })).toEqual({
      type: "NONE",
      unit: "char",
      chunk_size: 0,
      chunk_overlap: 0,
    });
  });

  it("R-LISA-62 R-KB-27 the defaults are 1000/200 characters, and 300 tokens with 10 % overlap for catalogs", () => {
    expect(systemChunking).toMatchObject({ type: "RECURSIVE", unit: "char", chunk_size: 1000, chunk_overlap: 200 });
    expect(catalogChunking).toMatchObject({ type: "TOKEN", unit: "token", chunk_size: 300, chunk_overlap: 30 });
  });

  it("refuses unknown fields by name, and two fields that contradict each other", () => {
    expect(refusal({ type: "FIXED", chunksize: 500 })).toContain("chunksize: unknown field");
    expect(refusal({ type: "FIXED", parameters: { type: "FIXED" } })).toContain("parameters.type: unknown field");
    expect(refusal({ type: "FIXED", chunkSize: 500, parameters: { size: 600 } })).toMatch(
      /parameters\.size is 600 but .*chunkSize is 500/,
    );
    expect(refusal({ type: "RECURSIVE", separators: ["a", "b"], parameters: { separators: ["b", "a"] } })).toContain(
      "both set separators",
    );
    expect(readChunkingStrategy({ type: "FIXED", chunkSize: 500, parameters: { size: 500 } })).toMatchObject({
      chunk_size: 500,
    });
    expect(refusal({ type: "FIXED", parameters: [] })).toContain("parameters: must be an object");
    expect(refusal({ type: "TOKEN", unit: "char" })).toContain("TOKEN counts tokens");
    expect(refusal({ type: "FIXED", unit: "words" })).toContain('use "char" or "token"');
    expect(refusal({ type: "FIXED", separators: [" "] })).toContain("only RECURSIVE");
    expect(refusal({ type: "FIXED", threshold: 0.5 })).toContain("only SEMANTIC");
  });
});

describe("the bounds of a chunking strategy", () => {
  it.each([
    ["char", chunkingLimits.sizeCharsMin, 100, chunkingLimits.sizeCharsMax, 10_000],
    ["token", chunkingLimits.sizeTokensMin, 10, chunkingLimits.sizeTokensMax, 8_192],
  ])(
    "R-LISA-67 the size in unit %s is accepted at both limits and refused one past them",
    (unit, min, minExpected, max, maxExpected) => {
      expect([min, max]).toEqual([minExpected, maxExpected]);
      for (const chunk_size of [min, max])
        expect(readChunkingStrategy({ type: "FIXED", unit, chunk_size })).toMatchObject({ chunk_size });
      for (const chunk_size of [min - 1, max + 1, min + 0.5, `${min}`, true]) {
        expect(refusal({ type: "FIXED", unit, chunk_size })).toContain(`from ${min} to ${max}`);
      }
    },
  );

  it("R-LISA-67 the overlap ranges from 0 to half of the size", () => {
    for (const [chunk_size, chunk_overlap] of [
      [1000, 0],
      [1000, 500],
      [101, 50],
      [100, 50],
    ]) {
      expect(readChunkingStrategy({ type: "RECURSIVE", chunk_size, chunk_overlap })).toMatchObject({
        chunk_size,
        chunk_overlap,
      });
    }
    for (const [chunk_size, chunk_overlap] of [
      [1000, -1],
      [1000, 501],
      [101, 51],
      [1000, 0.5],
    ]) {
      expect(refusal({ type: "RECURSIVE", chunk_size, chunk_overlap })).toContain("half of chunk_size");
    }
    expect(readChunkingStrategy({ type: "TOKEN", chunk_size: 10, chunk_overlap: 5 })).toMatchObject({
      chunk_overlap: 5,
    });
    expect(refusal({ type: "TOKEN", chunk_size: 10, chunk_overlap: 6 })).toContain("from 0 to 5");
  });

  it("R-LISA-67 RECURSIVE needs at least one separator", () => {
    const read = (separators: unknown) => readChunkingStrategy({ type: "RECURSIVE", separators }).separators;
    expect(refusal({ type: "RECURSIVE", separators: [] })).toContain("1 to 20");
    expect(read(["x"])).toEqual(["x"]);
    expect(read(Array.from({ length: 20 }, () => "x"))).toHaveLength(20);
    expect(refusal({ type: "RECURSIVE", separators: Array.from({ length: 21 }, () => "x") })).toContain("1 to 20");
    expect(read(["x".repeat(50)])).toEqual(["x".repeat(50)]);
    expect(refusal({ type: "RECURSIVE", separators: [" ", "x".repeat(51)] })).toContain("separators[1]");
    expect(refusal({ type: "RECURSIVE", separators: [""] })).toContain("1 to 50 characters");
    expect(refusal({ type: "RECURSIVE", separators: "x" })).toContain("must be a list");
  });

  it("R-LISA-67 the threshold of SEMANTIC ranges from 0 to 1", () => {
    for (const threshold of [0, 0.5, 1])
      expect(readChunkingStrategy({ type: "SEMANTIC", threshold })).toMatchObject({ threshold });
    for (const threshold of [-0.01, 1.01, "0.5"])
      expect(refusal({ type: "SEMANTIC", threshold })).toContain("from 0 to 1");
  });

  it("R-LISA-67 an unknown type is refused with the list of the supported ones", () => {
    for (const type of ["PARAGRAPH", "", 7, undefined]) {
      expect(refusal({ type })).toContain("FIXED, RECURSIVE, TOKEN, SENTENCE, MARKDOWN, SEMANTIC, NONE");
    }
    for (const input of [null, undefined, "RECURSIVE", [], 5]) expect(refusal(input)).toContain("must be an object");
  });
});
