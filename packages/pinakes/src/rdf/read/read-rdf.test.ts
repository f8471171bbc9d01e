import { describe, expect, it } from "vitest";
import type { RdfFormat } from "../formats.ts";
import { rdfLimits } from "../limits.ts";
import { readRdf } from "./read-rdf.ts";
import { bytesOf, canonicalHash, problem, read, readByOxigraph, rdfNs } from "../test-rdf.ts";

const xmlOpen = `<rdf:RDF xmlns:rdf="${rdfNs}" xmlns:e="http://e.org/">`;
const samples: Readonly<Record<RdfFormat, string>> = {
  turtle:
    '@prefix e: <http://e.org/> .\r\n# größe\ne:é a e:T ;\n  e:p "süß"@de-AT , 1 , 2.5e0 , """two\n"lines" 😀""" , [ e:q ( _:x true ) ] .\n',
  trig: '@prefix e: <http://e.org/> .\ne:a e:p _:x .\ne:g { e:é e:p "😀"@en , "\\u00e9\\n" . _:x e:p 1.5 }\n',
  ntriples:
    '<http://e.org/é> <http://e.org/p> "a\\"b\\\\ 😀"@en . # end\n\n_:x <http://e.org/p> "\\u00e9"^^<http://e.org/d> .\n',
  nquads: '<http://e.org/é> <http://e.org/p> "😀" <http://e.org/g> .\n_:x.y <http://e.org/p> _:z _:g .\n',
  jsonld:
    '{"@context": {"n": "http://e.org/n", "k": {"@id": "http://e.org/k", "@type": "@id"}},\n "@id": "http://e.org/é", "n": ["sü\\"ß\\\\", "\\ud83d\\ude00 😀", -1.5e3, true, null, {"@list": [1, {"n": "z"}]}],\n "k": {"@id": "_:x", "n": []}}\n',
  rdfxml: `<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY e "http://e.org/">]>\n${xmlOpen}\n<e:T rdf:about="&e;é" e:n="x">\r\n<e:p xml:lang="de-AT">sü<!-- c -->ß<![CDATA[<😀>]]> &amp; &#233;</e:p><e:q rdf:parseType="Collection"><e:T rdf:nodeID="x"/></e:q></e:T></rdf:RDF>\n`,
  json: '{"triples": [{"s": "http://e.org/é", "p": "<http://e.org/p>", "o": "\\"süß\\\\😀\\"@de"},\n{"s": "_:x", "p": {"type": "iri", "value": "http://e.org/p"}, "o": {"type": "literal", "value": "\\u00e9", "datatype": "http://e.org/d"}, "g": "_:g"}]}',
};
const formats = Object.keys(samples) as RdfFormat[];

describe.each(formats)("reading %s", (format) => {
  const bytes = Buffer.from(samples[format]);

  it("R-TG-120 gives the same quads wherever the bytes are cut, inside a character too", async () => {
    const whole = await read(format, bytes);
    expect(whole.length).toBeGreaterThan(1);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await read(format, bytesOf(bytes.subarray(0, cut), bytes.subarray(cut))), `cut at ${cut}`).toEqual(whole);
    }
    expect(await read(format, bytesOf(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(whole);
  });

  it("R-TG-131 a file read twice under a prefix gives the same quads; under two prefixes no common blank node", async () => {
    const blanks = async (blankPrefix: string) =>
      (await read(format, bytes, { blankPrefix }))
        .flatMap(({ s, o }) => [s, o])
        .filter((text) => text.startsWith("_:"));
    const one = await blanks("one");
    expect(one.length).toBeGreaterThan(0);
    expect(await blanks("one")).toEqual(one);
    expect(new Set(one).intersection(new Set(await blanks("two"))).size).toBe(0);
  });

  it("skips a byte order mark", async () => {
    expect(await read(format, bytesOf(Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf), bytes))).toEqual(
      await read(format, bytes),
    );
  });

  it("R-TG-120 a document that is cut off is an error, not a shorter one", async () => {
    const ends =
      format === "ntriples" || format === "nquads"
        ? bytes.length - 3
        : bytes.lastIndexOf(format === "rdfxml" ? "</e:T>" : format === "turtle" ? "]" : "}");
    expect(await problem(format, bytes.subarray(0, ends))).toMatch(/^INVALID: Line \d+ of the /);
  });

  it("R-TG-120 bytes that are not UTF-8 are an error with their line", async () => {
    const line = samples[format].split("\n").length;
    expect(await problem(format, bytesOf(bytes, Uint8Array.of(0x20, 0xff, 0x0a)))).toContain(`Line ${line} of the`);
    expect(await problem(format, bytesOf(bytes, Uint8Array.of(0x20, 0xf0, 0x9f)))).toContain("ends inside a character");
  });
});

describe("the samples", () => {
  it.each(formats.filter((format) => format !== "json" && format !== "rdfxml"))(
    "R-TG-120 in %s mean what another implementation reads in them",
    async (format) => {
      expect(await canonicalHash(await read(format, samples[format]))).toBe(
        await canonicalHash(readByOxigraph(format, samples[format])),
      );
    },
  );

  it("R-TG-120 a text that a comment and CDATA cut in pieces is one text (Oxigraph refuses it)", async () => {
    expect((await read("rdfxml", samples.rdfxml)).map(({ o }) => o)).toContain('"süß<😀> & é"@de-at');
  });

  it("R-TG-120 marks inside an XML literal stay escaped, so that it stays XML", async () => {
    const [quad] = await read(
      "rdfxml",
      `${xmlOpen}<e:T><e:p rdf:parseType="Literal">a &lt; <b t="&quot;">x</b></e:p></e:T></rdf:RDF>`,
    ).then((quads) => quads.filter(({ p }) => p.endsWith("/p>")));
    expect(quad?.o).toBe(`"a &lt; <b t="&quot;">x</b>"^^<${rdfNs}XMLLiteral>`);
  });
});

const good: Readonly<Record<RdfFormat, (n: number) => string>> = {
  turtle: (n) => `<http://e.org/${n}> <http://e.org/p> "x" .\n`,
  trig: (n) => `<http://e.org/g> { <http://e.org/${n}> <http://e.org/p> "x" }\n`,
  ntriples: (n) => `<http://e.org/${n}> <http://e.org/p> "x" .\n`,
  nquads: (n) => `<http://e.org/${n}> <http://e.org/p> "x" <http://e.org/g> .\n`,
  jsonld: (n) => `{"@id": "http://e.org/${n}", "http://e.org/p": "x"},\n`,
  rdfxml: (n) => `<rdf:Description rdf:about="http://e.org/${n}"><e:p>x</e:p></rdf:Description>\n`,
  json: (n) => `{"s": "http://e.org/${n}", "p": "http://e.org/p", "o": "\\"x\\""},\n`,
};
const frame: Readonly<Record<RdfFormat, readonly [string, string]>> = {
  turtle: ["", ""],
  trig: ["", ""],
  ntriples: ["", ""],
  nquads: ["", ""],
  jsonld: ["[", '{"@id": "http://e.org/z"}]'],
  rdfxml: [xmlOpen, "</rdf:RDF>"],
  json: ["[", '{"s": "http://e.org/z", "p": "http://e.org/p", "o": "http://e.org/o"}]'],
};
const bad: Readonly<Record<RdfFormat, readonly (readonly [string, string])[]>> = {
  turtle: [
    ["syntax", "<http://e.org/s> <http://e.org/p> ."],
    ["a relative IRI", "<http://e.org/s> <http://e.org/p> <o> ."],
    ["an unknown prefix", "<http://e.org/s> e:p 1 ."],
    ["a space in an IRI", "<http://e.org/a b> <http://e.org/p> 1 ."],
    ["an escaped space in an IRI", "<http://e.org/a\\u0020b> <http://e.org/p> 1 ."],
    ["a language", '<http://e.org/s> <http://e.org/p> "a"@abcdefghijk .'],
    ["a named graph", "<http://e.org/g> { <http://e.org/s> <http://e.org/p> 1 }"],
    ["a triple in a triple", "<http://e.org/s> <http://e.org/p> <<( <http://e.org/s> <http://e.org/p> 1 )>> ."],
    ["langString without a language", `<http://e.org/s> <http://e.org/p> "a"^^<${rdfNs}langString> .`],
  ],
  trig: [["syntax", "<http://e.org/g> { <http://e.org/s> <http://e.org/p> }"]],
  ntriples: [
    ["syntax", "<http://e.org/s> <http://e.org/p> ."],
    ["no dot", '<http://e.org/s> <http://e.org/p> "x"'],
    ["a relative IRI", "<s> <http://e.org/p> <http://e.org/o> ."],
    ["a prefixed name", "e:s <http://e.org/p> <http://e.org/o> ."],
    ["a literal subject", '"s" <http://e.org/p> <http://e.org/o> .'],
    ["a blank predicate", "<http://e.org/s> _:p <http://e.org/o> ."],
    ["a graph", "<http://e.org/s> <http://e.org/p> <http://e.org/o> <http://e.org/g> ."],
    ["an open quote", '<http://e.org/s> <http://e.org/p> "x .'],
  ],
  nquads: [
    ["syntax", "<http://e.org/s> <http://e.org/p> ."],
    ["a literal graph", '<http://e.org/s> <http://e.org/p> "x" "g" .'],
  ],
  jsonld: [
    ["syntax", '{"@id": "http://e.org/a" "http://e.org/p": 1},'],
    ["a relative id", '{"@id": "a", "http://e.org/p": 1},'],
    ["a key without an IRI", '{"@id": "http://e.org/a", "p": 1},'],
    ["a remote context", '{"@context": "https://schema.org/", "@id": "http://e.org/a"},'],
    ["a space in an IRI", '{"@id": "http://e.org/a b", "http://e.org/p": 1},'],
    ["a language", '{"@id": "http://e.org/a", "http://e.org/p": {"@value": "x", "@language": "a b"}},'],
    ["half a surrogate pair", '{"@id": "http://e.org/a", "http://e.org/p": "a\\ud800b"},'],
    ["an unknown escape", '{"@id": "http://e.org/a", "http://e.org/p": "a\\xb"},'],
    ["a bad number", '{"@id": "http://e.org/a", "http://e.org/p": 01},'],
    ["a blank node label", '{"@id": "_:a b", "http://e.org/p": 1},'],
  ],
  rdfxml: [
    ["syntax", '<rdf:Description rdf:about="http://e.org/a"><e:p>x</e:q></rdf:Description>'],
    ["a relative IRI", '<rdf:Description rdf:about="a"><e:p>x</e:p></rdf:Description>'],
    ["an rdf:ID that stands twice", '<rdf:RDF xml:base="http://e.org/"><e:C rdf:ID="a"/><e:C rdf:ID="a"/></rdf:RDF>'],
    ["a space in an IRI", '<rdf:Description rdf:about="http://e.org/a b"><e:p>x</e:p></rdf:Description>'],
    ["an undeclared prefix", '<rdf:Description rdf:about="http://e.org/a"><f:p>x</f:p></rdf:Description>'],
    ["an undeclared entity", '<rdf:Description rdf:about="http://e.org/a"><e:p>&nope;</e:p></rdf:Description>'],
    ["a language", '<rdf:Description rdf:about="http://e.org/a"><e:p xml:lang="a b">x</e:p></rdf:Description>'],
    ["two subjects", '<rdf:Description rdf:about="http://e.org/a" rdf:nodeID="b"><e:p>x</e:p></rdf:Description>'],
  ],
  json: [
    ["syntax", '{"s": "http://e.org/a",},'],
    ["no predicate", '{"s": "http://e.org/a", "o": "http://e.org/o"},'],
    ["a relative IRI", '{"s": "a", "p": "http://e.org/p", "o": "http://e.org/o"},'],
    ["a literal subject", '{"s": "\\"a\\"", "p": "http://e.org/p", "o": "http://e.org/o"},'],
    ["an unknown key", '{"s": "http://e.org/a", "p": "http://e.org/p", "o": "http://e.org/o", "x": 1},'],
    [
      "an unknown type",
      '{"s": {"type": "uri", "value": "http://e.org/a"}, "p": "http://e.org/p", "o": "http://e.org/o"},',
    ],
    [
      "a term's unknown key",
      '{"s": {"type": "iri", "value": "http://e.org/a", "lang": "en"}, "p": "http://e.org/p", "o": "http://e.org/o"},',
    ],
    [
      "a language of an IRI",
      '{"s": {"type": "iri", "value": "http://e.org/a", "language": "en"}, "p": "http://e.org/p", "o": "http://e.org/o"},',
    ],
    ["a number", "7,"],
  ],
};

describe.each(formats)("a mistake in %s", (format) => {
  it.each(bad[format])("R-TG-120 %s is told with its line", async (_, line) => {
    for (const before of [0, 1, 5, 2_000]) {
      const lines = [
        frame[format][0],
        ...Array.from({ length: before }, (__, n) => good[format](n).trimEnd()),
        line,
        ...Array.from({ length: 5 }, (__, n) => good[format](n).trimEnd()),
        frame[format][1],
      ];
      expect(await problem(format, lines.join("\n"))).toContain(`INVALID: Line ${before + 2} of the `);
    }
  });

  it("R-TG-120 has no such error without the mistake", async () => {
    const lines = [
      frame[format][0],
      ...Array.from({ length: 2_005 }, (_, n) => good[format](n).trimEnd()),
      frame[format][1],
    ];
    expect((await read(format, lines.join("\n"))).length).toBeGreaterThanOrEqual(2_005);
  });
});

describe("asking for little", () => {
  it.each(formats)(
    "R-TG-120 reads %s no further than its consumer asks, and closes the source when it stops",
    async (format) => {
      let given = 0;
      let closed = false;
      const source = async function* () {
        try {
          yield Buffer.from(frame[format][0]);
          for (let n = 0; n < 100_000; n++) {
            given++;
            yield Buffer.from(good[format](n));
          }
        } finally {
          closed = true;
        }
      };
      for await (const quads of readRdf(source(), { format, blankPrefix: "f" })) {
        expect(quads.length).toBeLessThanOrEqual(rdfLimits.batchQuadsMax);
        break;
      }
      // JSON-LD is parsed in larger pieces; its lines here have some fifty bytes.
      expect(given).toBeLessThan(format === "jsonld" ? rdfLimits.jsonldPieceCharsMin / 40 : 1_000);
      expect(closed).toBe(true);
    },
  );

  it("R-TG-120 hands on small batches though everything came in one chunk", async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => good.ntriples(n)).join("");
    const sizes: number[] = [];
    for await (const quads of readRdf(bytesOf(text), { format: "ntriples", blankPrefix: "f" }))
      sizes.push(quads.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(rdfLimits.batchQuadsMax);
    expect(sizes.reduce((a, b) => a + b)).toBe(20_000);
  });
});

describe("what the caller gives", () => {
  it.each(["", "1a", "a_b", "a.b", "a b", "a".repeat(rdfLimits.blankPrefixCharsMax + 1)])(
    "refuses the prefix %j of blank nodes",
    (blankPrefix) => {
      expect(() => readRdf(bytesOf(""), { format: "turtle", blankPrefix })).toThrow("The prefix of blank nodes");
    },
  );

  it("takes the longest prefix, and a base for relative IRIs", async () => {
    const blankPrefix = "a".repeat(rdfLimits.blankPrefixCharsMax);
    const quads = await read("turtle", "<a> <#b> [] .", { blankPrefix, baseIri: "http://e.org/x/y" });
    expect(quads).toEqual([{ s: "<http://e.org/x/a>", p: "<http://e.org/x/y#b>", o: `_:${blankPrefix}.0`, g: "" }]);
  });

  it("R-TG-120 resolves against the base in JSON-LD and RDF/XML too", async () => {
    const baseIri = "http://e.org/x/y";
    expect(await read("jsonld", '{"@id": "a", "http://e.org/p": {"@id": "../b"}}', { baseIri })).toEqual([
      { s: "<http://e.org/x/a>", p: "<http://e.org/p>", o: "<http://e.org/b>", g: "" },
    ]);
    expect(
      await read(
        "rdfxml",
        `${xmlOpen}<rdf:Description rdf:about="a"><e:p rdf:resource="../b"/></rdf:Description></rdf:RDF>`,
        { baseIri },
      ),
    ).toEqual([{ s: "<http://e.org/x/a>", p: "<http://e.org/p>", o: "<http://e.org/b>", g: "" }]);
  });

  it("refuses a base that is not absolute, limits beyond ours, and unknown formats", () => {
    expect(() => readRdf(bytesOf(""), { format: "turtle", blankPrefix: "f", baseIri: "x" })).toThrow("not absolute");
    expect(() =>
      readRdf(bytesOf(""), {
        format: "turtle",
        blankPrefix: "f",
        limits: { termBytesMax: rdfLimits.termBytesMax + 1 },
      }),
    ).toThrow("at most");
    expect(() =>
      readRdf(bytesOf(""), {
        format: "turtle",
        blankPrefix: "f",
        limits: { termBytesMax: rdfLimits.termBytesMin - 1 },
      }),
    ).toThrow("at least");
    expect(() =>
      readRdf(bytesOf(""), {
        format: "turtle",
        blankPrefix: "f",
        limits: { nestingLevelsMax: rdfLimits.nestingLevelsMax + 1 },
      }),
    ).toThrow("at most");
    expect(() => readRdf(bytesOf(""), { format: "n3" as RdfFormat, blankPrefix: "f" })).toThrow("unknown");
  });
});
