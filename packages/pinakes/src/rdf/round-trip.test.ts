import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultGraph, type Quad } from "../domain/rdf.ts";
import { rdfFormats } from "./formats.ts";
import { allFormats, canonicalHash, datasets, read, readByOxigraph, write } from "./test-rdf.ts";

const prefixes = {
  e: "http://e.org/",
  ns: "http://e.org/ns#",
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  "": "urn:x:",
};

describe.each(allFormats)("a round trip through %s", (format) => {
  const random = datasets({ graphs: rdfFormats[format].graphs, xml: format === "rdfxml" });

  it("R-TG-121 export, import and export again gives an isomorphic dataset, whatever it holds", async () => {
    await fc.assert(
      fc.asyncProperty(random, fc.boolean(), async (quads, sorted) => {
        const given = sorted ? inOrder(quads) : quads;
        const first = await write(format, given, prefixes);
        const back = await read(format, first, { blankPrefix: "first" });
        const again = await read(format, await write(format, back), { blankPrefix: "second" });
        expect(await canonicalHash(back)).toBe(await canonicalHash(quads));
        expect(await canonicalHash(again)).toBe(await canonicalHash(quads));
      }),
      { numRuns: 150 },
    );
  });

  it("R-TG-121 what is written is read alike by another implementation", async () => {
    await fc.assert(
      fc.asyncProperty(random, async (quads) => {
        const text = await write(format, inOrder(quads), prefixes);
        expect(await canonicalHash(readByOxigraph(format, text))).toBe(await canonicalHash(quads));
      }),
      { numRuns: 150 },
    );
  });

  it("R-TG-131 the same file under the same prefix gives the same quads, and under another one no blank node of the first", async () => {
    const text = await write(format, [
      { s: "_:a", p: "<http://e.org/p>", o: "_:b", g: defaultGraph },
      { s: "<http://e.org/x>", p: "<http://e.org/p>", o: "_:a", g: defaultGraph },
    ]);
    const [one, same, other] = await Promise.all(
      ["one", "one", "two"].map(async (blankPrefix) => read(format, text, { blankPrefix })),
    );
    expect(one).toHaveLength(2);
    expect(same).toEqual(one);
    expect(blanksOf(one as Quad[]).size).toBe(2);
    expect(blanksOf(one as Quad[]).intersection(blanksOf(other as Quad[])).size).toBe(0);
  });
});

describe("what a format cannot hold", () => {
  const named: Quad = { s: "<http://e.org/s>", p: "<http://e.org/p>", o: '"x"', g: "<http://e.org/g>" };

  it.each(["turtle", "ntriples", "rdfxml"] as const)(
    "R-TG-121 a graph with a name is refused by %s, which says what to ask for",
    async (format) => {
      await expect(write(format, [named])).rejects.toMatchObject({
        code: "INVALID",
        message: expect.stringContaining("request TriG or N-Quads") as string,
      });
    },
  );

  it.each([
    "http://e.org/",
    "http://e.org/1",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#li",
    "http://www.w3.org/2000/xmlns/x",
  ])("R-TG-121 RDF/XML names the predicate that it cannot write: %s", async (predicate) => {
    await expect(write("rdfxml", [{ ...named, g: defaultGraph, p: `<${predicate}>` }])).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining(predicate) as string,
    });
  });

  it("R-TG-121 RDF/XML refuses a character that XML cannot hold", async () => {
    await expect(write("rdfxml", [{ ...named, g: defaultGraph, o: '"a\u0001b"' }])).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("U+0001") as string,
    });
  });

  it("refuses a prefix that Turtle could not read back", async () => {
    await expect(write("turtle", [], { "a b": "http://e.org/" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(write("turtle", [], { a: "e org" })).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("how it is written", () => {
  const quads: readonly Quad[] = [
    {
      s: "<http://e.org/s>",
      p: "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
      o: "<http://e.org/T>",
      g: defaultGraph,
    },
    { s: "<http://e.org/s>", p: "<http://e.org/p>", o: '"x"@en', g: defaultGraph },
    {
      s: "<http://e.org/s>",
      p: "<http://e.org/p>",
      o: '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
      g: defaultGraph,
    },
    { s: "_:b", p: "<http://e.org/p>", o: "<http://e.org/a/b>", g: "<http://e.org/g>" },
  ];

  it("R-TG-121 TriG shares subjects and predicates and uses prefixes", async () => {
    expect(await write("trig", quads, { e: "http://e.org/", xsd: "http://www.w3.org/2001/XMLSchema#" })).toBe(
      '@prefix e: <http://e.org/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n\ne:s a e:T ;\n  e:p "x"@en , "1"^^xsd:integer .\ne:g {\n  _:b e:p <http://e.org/a/b> .\n}\n',
    );
  });

  it("R-TG-121 JSON-LD is one valid JSON document in expanded form", async () => {
    expect(JSON.parse(await write("jsonld", quads))).toEqual([
      {
        "@id": "http://e.org/s",
        "@type": ["http://e.org/T"],
        "http://e.org/p": [
          { "@value": "x", "@language": "en" },
          { "@value": "1", "@type": "http://www.w3.org/2001/XMLSchema#integer" },
        ],
      },
      { "@id": "http://e.org/g", "@graph": [{ "@id": "_:b", "http://e.org/p": [{ "@id": "http://e.org/a/b" }] }] },
    ]);
    expect(JSON.parse(await write("jsonld", []))).toEqual([]);
  });
});

function inOrder(quads: readonly Quad[]): readonly Quad[] {
  const key = ({ s, p, o, g }: Quad) => [g, s, p, o].join("\n");
  return [...quads].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function blanksOf(quads: readonly Quad[]): Set<string> {
  return new Set(quads.flatMap(({ s, o, g }) => [s, o, g]).filter((text) => text.startsWith("_:")));
}
