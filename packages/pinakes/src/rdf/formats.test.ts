import { describe, expect, it } from "vitest";
import { formatOfContentType, formatOfFileName, negotiateFormat, type RdfFormat, rdfFormats } from "./formats.ts";

describe("the formats of RDF", () => {
  it("R-TG-120 each is found by its media types and its file extensions, and no two share one", () => {
    const seen = new Set<string>();
    for (const [format, { mediaTypes, extensions }] of Object.entries(rdfFormats) as [RdfFormat, (typeof rdfFormats)[RdfFormat]][]) {
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

describe("the format that an Accept header asks for", () => {
  it.each([
    [undefined, "turtle"],
    ["", "turtle"],
    ["*/*", "turtle"],
    ["text/*", "turtle"],
    ["application/*", "nquads"],
    ["application/ld+json", "jsonld"],
    ["text/html, application/rdf+xml;q=0.9, */*;q=0.1", "rdfxml"],
    ["text/turtle;q=0.4, application/n-triples;q=0.5", "ntriples"],
    ["application/n-triples, text/turtle", "turtle"],
    ["text/turtle;q=0, */*", "nquads"],
    ["text/turtle;q=0, text/*;q=0.5, application/trig;q=0.2", "trig"],
    ["text/x-nquads;q=0.9, application/trig;q=0.2", "nquads"],
    ["application/x-trig", "trig"],
    ["text/turtle;q=nonsense, application/trig;q=0.001", "trig"],
    ["text/turtle; charset=utf-8; q=0.3, application/trig; q=0.2", "turtle"],
    ["text/html", undefined],
    ["application/json", undefined],
    ["nonsense", undefined],
    ["*/*;q=0", undefined],
  ])("R-TG-121 %j → %s", (accept, format) => {
    expect(negotiateFormat(accept)).toBe(format);
  });

  it.each([
    [undefined, "nquads"],
    ["*/*", "nquads"],
    ["text/turtle, application/trig;q=0.1", "trig"],
    ["text/turtle", undefined],
  ])("R-TG-121 %j → %s where graphs have names", (accept, format) => {
    expect(negotiateFormat(accept, { graphs: true })).toBe(format);
  });
});
