import { describe, expect, it } from "vitest";
import { formatOfContentType, formatOfFileName, type RdfFormat, rdfFormats } from "./formats.ts";

describe("the formats of RDF", () => {
  it("R-TG-120 each is found by its media types and its file extensions, and no two share one", () => {
    const seen = new Set<string>();
    for (const [format, { mediaTypes, extensions }] of Object.entries(rdfFormats) as [
      RdfFormat,
      (typeof rdfFormats)[RdfFormat],
    ][]) {
      for (const type of mediaTypes) expect(formatOfContentType(`${type.toUpperCase()} ; charset=utf-8`)).toBe(format);
      for (const extension of extensions) expect(formatOfFileName(`Some.File${extension.toUpperCase()}`)).toBe(format);
      for (const sign of [...mediaTypes, ...extensions]) {
        expect(seen.has(sign)).toBe(false);
        seen.add(sign);
      }
    }
  });

  it("knows no others", () => {
    expect(formatOfContentType("text/html")).toBeUndefined();
    expect(formatOfContentType("")).toBeUndefined();
    expect(formatOfFileName("ttl")).toBeUndefined();
    expect(formatOfFileName("a.ttl.gz")).toBeUndefined();
  });
});
