import { describe, expect, it } from "vitest";
import type { RdfFormat } from "./formats.ts";
import { rdfLimits } from "./limits.ts";
import { bytesOf, problem, read, rdfNs } from "./test-rdf.ts";

const xmlOpen = `<rdf:RDF xmlns:rdf="${rdfNs}" xmlns:e="http://e.org/">`;
const inXml = (inside: string, doctype = "") =>
  `${doctype}${xmlOpen}\n<rdf:Description rdf:about="http://e.org/a">\n${inside}</rdf:Description></rdf:RDF>`;
const statement = (object: string) => `<http://e.org/s> <http://e.org/p> ${object} .`;

const withWords: Readonly<Record<RdfFormat, (words: string) => string>> = {
  turtle: (words) => statement(`"""${words}"""`),
  trig: (words) => `{ ${statement(`'${words}'`)} }`,
  ntriples: (words) => statement(`"${words}"`),
  nquads: (words) => statement(`"${words}"@en <http://e.org/g>`),
  jsonld: (words) => `{"@id": "http://e.org/s", "http://e.org/p": "${words}"}`,
  rdfxml: (words) => inXml(`<e:p>${words}</e:p>`),
  json: (words) => `[{"s": "http://e.org/s", "p": "http://e.org/p", "o": {"type": "literal", "value": "${words}"}}]`,
};
const formats = Object.keys(withWords) as RdfFormat[];

/** Never ends; counts what was taken of it. */
function endless(
  begin: string,
  piece: string,
): { readonly source: AsyncIterable<Uint8Array>; readonly taken: () => number } {
  let bytes = 0;
  const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
  const source = async function* () {
    yield Buffer.from(begin);
    for (;;) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  return { source: source(), taken: () => bytes };
}

describe.each(formats)("a long text in %s", (format) => {
  it("R-TG-120 is read up to the limit of a term, in bytes, and refused one past it", async () => {
    const longest = "é".repeat(rdfLimits.termBytesMax / 2);
    expect(await read(format, withWords[format](longest))).toMatchObject([
      { o: expect.stringContaining(longest) as string },
    ]);
    expect(await problem(format, withWords[format](`${longest}x`))).toMatch(
      /^INVALID: Line \d+ .*longer than 32768 bytes/,
    );
    expect(await problem(format, withWords[format]("a".repeat(257)), { limits: { termBytesMax: 256 } })).toMatch(
      /^INVALID: Line \d+ .*longer than 256 bytes/,
    );
    expect(await read(format, withWords[format]("a".repeat(256)), { limits: { termBytesMax: 256 } })).toHaveLength(1);
  });

  it("R-TG-120 that never ends is refused after a bounded number of bytes", async () => {
    const [begin] = withWords[format]("HERE").split("HERE") as [string];
    const { source, taken } = endless(begin, "abcdefgh");
    expect(await problem(format, source)).toMatch(/^INVALID: Line \d+ /);
    expect(taken()).toBeLessThan(4 * rdfLimits.tokenCharsMax);
  });
});

describe.each([
  ["turtle", "<http://e.org/s> ", "<http://e.org/p> [ "],
  ["turtle", "<http://e.org/s> <http://e.org/p> ", "( "],
  ["trig", "{ <http://e.org/s> ", "<http://e.org/p> [ "],
  ["jsonld", '{"http://e.org/p": ', '{"http://e.org/p": '],
  ["jsonld", "[", "["],
  ["json", "[", "["],
  ["rdfxml", xmlOpen, "<rdf:Description><e:p>"],
  ["rdfxml", inXml('<e:p rdf:parseType="Literal">').split("</")[0] as string, "<b>"],
] as const)("%s nested without end: %s%s", (format, begin, piece) => {
  it("R-TG-120 is refused after a bounded number of bytes", async () => {
    const { source, taken } = endless(begin, piece);
    expect(await problem(format, source)).toMatch(/^INVALID: Line \d+ .*nested/);
    expect(taken()).toBeLessThanOrEqual(2 * 65_536);
  });
});

describe("nesting", () => {
  const nested: readonly (readonly [RdfFormat, (levels: number) => string])[] = [
    ["turtle", (levels) => statement("( ".repeat(levels) + ") ".repeat(levels))],
    [
      "jsonld",
      (levels) => `${'{"http://e.org/p":'.repeat(levels - 1)}{"@id":"http://e.org/x"}${"}".repeat(levels - 1)}`,
    ],
    [
      "rdfxml",
      (levels) =>
        `${xmlOpen}${"<rdf:Description><e:p>".repeat((levels - 2) / 2)}<rdf:Description>${levels % 2 === 1 ? "<e:p></e:p>" : ""}</rdf:Description>${"</e:p></rdf:Description>".repeat((levels - 2) / 2)}</rdf:RDF>`,
    ],
  ];
  it.each(nested)("R-TG-120 %s may be as deep as the limit, and no deeper", async (format, document) => {
    expect((await read(format, document(rdfLimits.nestingLevelsMax))).length).toBeGreaterThan(0);
    expect(await problem(format, document(rdfLimits.nestingLevelsMax + 1))).toContain("nested");
  });
});

describe("small files that stand for large ones", () => {
  it("R-TG-120 entities inside entities are refused, so nothing multiplies", async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join("\n");
    const bomb = inXml("<e:p>&a9;</e:p>", `<!DOCTYPE x [<!ENTITY a0 "lol">\n${levels}]>\n`);
    expect(await problem("rdfxml", bomb)).toMatch(/^INVALID: Line \d+ .*contains another entity/);
  });

  it("R-TG-120 an external entity is never fetched", async () => {
    expect(
      await problem("rdfxml", inXml("<e:p>&x;</e:p>", '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n')),
    ).toContain("undefined entity");
  });

  it("R-TG-120 an entity may be as long as the limit, and used over and over it makes a text that is too long", async () => {
    const doctype = (chars: number) => `<!DOCTYPE x [<!ENTITY x "${"a".repeat(chars)}">]>`;
    expect(await read("rdfxml", inXml("<e:p>&x;</e:p>", doctype(rdfLimits.entityCharsMax)))).toHaveLength(1);
    expect(await problem("rdfxml", inXml("<e:p>&x;</e:p>", doctype(rdfLimits.entityCharsMax + 1)))).toContain(
      "longer than 1024 characters",
    );
    const { source, taken } = endless(inXml("", doctype(rdfLimits.entityCharsMax)).split("</")[0] + "<e:p>", "&x;");
    expect(await problem("rdfxml", source)).toContain("does not end within");
    expect(taken()).toBeLessThanOrEqual(2 * 65_536);
  });

  it("R-TG-120 there are at most so many entities, and a DOCTYPE ends", async () => {
    const doctype = (count: number) =>
      `<!DOCTYPE x [${Array.from({ length: count }, (_, n) => `<!ENTITY x${n} "a">`).join("")}]>`;
    expect(await read("rdfxml", inXml("<e:p>&x0;</e:p>", doctype(rdfLimits.entitiesMax)))).toHaveLength(1);
    expect(await problem("rdfxml", inXml("<e:p>&x0;</e:p>", doctype(rdfLimits.entitiesMax + 1)))).toContain(
      "more than 256 entities",
    );
    const padded = (chars: number) => `<!DOCTYPE x [${" ".repeat(chars - 5)}]>`;
    expect(await read("rdfxml", inXml("<e:p>a</e:p>", padded(rdfLimits.doctypeCharsMax)))).toHaveLength(1);
    expect(await problem("rdfxml", inXml("<e:p>a</e:p>", padded(rdfLimits.doctypeCharsMax + 1)))).toContain(
      "The DOCTYPE is longer",
    );
  });

  it.each([
    ["turtle", `@prefix e: <http://e.org/${"a".repeat(30_000)}/> .\n`, "e:a e:b e:c .\ne:d e:e e:f .\n"],
    ["turtle", `@base <http://e.org/${"a".repeat(30_000)}/> .\n`, "<a> <b> <c> .\n<d> <e> <f> .\n"],
    [
      "jsonld",
      `{"@context": {"@vocab": "http://e.org/${"a".repeat(30_000)}/"}, "@graph": [`,
      '{"a": {"@type": "b"}},\n',
    ],
    [
      "jsonld",
      `{"@context": {"@vocab": "http://e.org/${"a".repeat(30_000)}/"}, "@id": "http://e.org/g", "@graph": [`,
      '{"@id": "http://e.org/x", "a": 1, "b": 2},\n',
    ],
    [
      "rdfxml",
      `<rdf:RDF xmlns:rdf="${rdfNs}" xmlns:e="http://e.org/${"a".repeat(30_000)}/">`,
      "<e:a><e:b></e:b></e:a>\n",
    ],
  ] as const)("R-TG-120 %s: a long namespace used without end is refused", async (format, begin, piece) => {
    const { source, taken } = endless(begin, piece);
    expect(await problem(format, source)).toContain("many times larger than the input");
    expect(taken()).toBeLessThan(2 * rdfLimits.jsonldHeldCharsMax);
  });

  it("R-TG-120 there are at most so many prefixes", async () => {
    const prefixes = (count: number) =>
      Array.from({ length: count }, (_, n) => `@prefix e${n}: <http://e.org/${n}> .\n`).join("");
    expect(await read("turtle", `${prefixes(rdfLimits.prefixesMax)}e0:a e0:b e0:c .`)).toHaveLength(1);
    expect(await problem("turtle", prefixes(rdfLimits.prefixesMax + 1))).toContain(
      `Line ${rdfLimits.prefixesMax + 1} of the Turtle document: There are more than`,
    );
  });
});

describe("large JSON-LD", () => {
  const node = (n: number, chars = 900) =>
    `{"@id": "http://e.org/${n}", "http://e.org/p": ["${"x".repeat(chars)}", {"http://e.org/q": ${n}}]}`;
  const many = Array.from({ length: 1_200 }, (_, n) => node(n)).join(",\n");

  it("R-TG-120 is read in pieces, with blank nodes that differ", async () => {
    expect(many.length).toBeGreaterThan(rdfLimits.jsonldHeldCharsMax);
    const quads = await read("jsonld", `{"@context": {}, "@id": "http://e.org/g",\n"@graph": [${many}]}`);
    expect(quads).toHaveLength(3 * 1_200);
    expect(new Set(quads.map(({ g }) => g))).toEqual(new Set(["<http://e.org/g>"]));
    expect(new Set(quads.map(({ s }) => s)).size).toBe(2 * 1_200);
    const array = Buffer.from(`[${many}]`);
    const inOne = await read("jsonld", array);
    const unlabelled = (text: string) => (text.startsWith("_:") ? "_:" : text);
    expect(inOne.map(({ s, p, o }) => [unlabelled(s), p, unlabelled(o)])).toEqual(
      quads.map(({ s, p, o }) => [unlabelled(s), p, unlabelled(o)]),
    );
    const chunks = Array.from({ length: Math.ceil(array.length / 777) }, (_, n) =>
      array.subarray(n * 777, (n + 1) * 777),
    );
    expect(await read("jsonld", bytesOf(...chunks))).toEqual(inOne);
  });

  it("R-TG-120 has to tell its context and name first, and nothing else", async () => {
    expect(await problem("jsonld", `{"@graph": [${many}],\n"@context": {}}`)).toMatch(
      /^INVALID: Line 1201 .*move "@context" before it/,
    );
    expect(await problem("jsonld", `{\n"http://e.org/p": 1, "@graph": [${many}]}`)).toMatch(
      /^INVALID: Line 2 .*into a node of "@graph"/,
    );
    expect(await read("jsonld", `{"@graph": [${node(1)}], "@context": {}, "http://e.org/p": 1}`)).not.toHaveLength(0);
  });

  it("R-TG-120 a context may follow what it is about in a small document, and has to come first in a large one", async () => {
    const late = (chars: number) =>
      `[{"@id": "http://e.org/a", "http://e.org/r": {"p": ["${"x".repeat(20_000)}", "${"y".repeat(chars)}"],\n"@context": {"p": "http://e.org/p"}}}]`;
    expect(await read("jsonld", late(10))).toHaveLength(3);
    expect(await problem("jsonld", late(10).replace('"p": "http', '"q": "http'))).toContain(
      '"p" is not an absolute IRI',
    );
    const many20k = Array.from({ length: 6 }, () => `"${"z".repeat(20_000)}"`).join(",");
    expect(await problem("jsonld", late(10).replace('"p": [', `"p": [${many20k},`))).toContain("comes before it");
  });

  it("R-TG-120 a single node has a limit", async () => {
    const { source, taken } = endless('[{"http://e.org/p": [', '"x",');
    expect(await problem("jsonld", source)).toContain(`longer than ${rdfLimits.jsonPartCharsMax} characters`);
    expect(taken()).toBeLessThan(2 * rdfLimits.jsonPartCharsMax);
  });
});

describe("odd JSON", () => {
  it.each([
    "",
    " ",
    "7",
    '"x"',
    "null",
    "[",
    "{",
    "[1,]",
    "{,}",
    '{"a"}',
    '{"a":}',
    "[1 2]",
    "[}",
    "{]",
    "[]]",
    "[] []",
    "[tru]",
    "[1.]",
    "[+1]",
    "[.5]",
    "[\u00a0]",
    '["\t"]',
    '["a\nb"]',
    "[NaN]",
    "['a']",
    "[1e]",
    "[-]",
  ])("R-TG-120 %j is refused", async (text) => {
    for (const format of ["json", "jsonld"] as const)
      expect(await problem(format, bytesOf(text))).toMatch(/^INVALID: Line \d+ /);
  });
});
