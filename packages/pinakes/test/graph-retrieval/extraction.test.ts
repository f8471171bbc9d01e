/** Triples of each format, compared with golden files: one line per triple, with the chunk that states it. */
import { describe, expect, it } from "vitest";
import type { Chunk } from "../../src/domain/chunking.ts";
import type { FileType } from "../../src/domain/file-type.ts";
import { parseFile } from "../../src/drivers/parsers/parse-file.ts";
import { extractDocument, type Extraction, type GraphSettings } from "../../src/knowledge/extraction/index.ts";
import { Facts } from "../../src/knowledge/extraction/facts.ts";
import { extractionLimits } from "../../src/knowledge/extraction/limits.ts";

const place = { repository_id: "kb", collection_id: "papers" };

interface Options extends Partial<GraphSettings> {
  readonly chunkChars?: number;
  readonly documentId?: string;
}

async function extract(name: string, text: string, options: Options = {}): Promise<Extraction> {
  const { chunkChars = 80, documentId = "d1", extract: mode = "structured", ...settings } = options;
  const fileType = name.split(".").at(-1) as FileType;
  const parsed = await parseFile({ bytes: Buffer.from(text), fileType });
  const chunks: Chunk[] = [];
  for (let start = 0; start < parsed.text.length; start += chunkChars)
    chunks.push({
      index: chunks.length,
      start,
      end: Math.min(parsed.text.length, start + chunkChars),
      text: parsed.text.slice(start, start + chunkChars),
    });
  return extractDocument({
    collection: place,
    document: { document_id: documentId, name, file_type: fileType },
    parsed,
    chunks,
    settings: { extract: mode, ...settings },
    signal: new AbortController().signal,
  });
}

function linesOf({ parts }: Extraction): string[] {
  return [...parts].flatMap(([part, quads]) =>
    quads.map(({ s, p, o, g }) => `#${part} ${[s, p, o, g].join(" ").trim()}`.replaceAll("urn:pinakes:kb:papers:", "")),
  );
}

const files: readonly (readonly [name: string, text: string, options: Options])[] = [
  [
    "people.csv",
    'id,name,manager,born,active,rate,home\n1,"Hopper, Grace",Ada,1906-12-09,true,1.5,https://grace.example/\n2,Ada,,1815,false,007,\n',
    {},
  ],
  ["keyed.csv", "name;city\nAda Lovelace;London\nBob;\n", { key: "Name" }],
  [
    "company.json",
    '{"name":"Acme","@type":"Firm","staff":[{"id":7,"name":"Ada","boss":{"name":"Gr\\u00fc\\u00df"}},{"id":"https://e.org/bob","name":"Bob"}],"tags":["a","b"],"size":1e3,"none":null,"ok":true}',
    {},
  ],
  ["lines.json", '{"id":1,"name":"One"}\n{"id":2,"name":"Two","next":{"id":1}}\n', {}],
  ["book.yaml", "title: A Book\nauthors:\n  - name: Ada\n  - name: Bob\npublished: 2020-01-31\npages: 120\n", {}],
  [
    "Page One.md",
    "---\ntitle: First Page\nauthor: Ada\naliases: [Uno]\n---\n# Heading\n\nSee [[Other Page|there]], [the guide](../docs/user%20guide.md), [web](https://example.com/x) and ![no](pic.png).\n",
    {},
  ],
  ["plain.md", "# Only a Heading\n\nText with [[Link]].\n", {}],
  [
    "graph.ttl",
    '@prefix e: <http://e.org/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\ne:GraceHopper e:worksAt e:Navy ; e:knows [ e:nick "G" ] .\ne:x1 rdfs:label "The Answer"@en .\n',
    {},
  ],
  ["graph.nt", '<urn:a:one> <urn:p:knows> <urn:a:two> .\n_:n <urn:p:name> "x" .\n', {}],
  ["graph.nq", "<urn:a:one> <urn:p:knows> <urn:a:two> <urn:g:mine> .\n", {}],
  ["graph.trig", "@prefix a: <urn:a:> .\na:mine { a:one a:knows a:two }\n", {}],
  ["graph.jsonld", '{"@context":{"name":"http://schema.org/name"},"@id":"urn:a:one","name":"Ada Lovelace"}', {}],
  [
    "graph.rdf",
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">\n<rdf:Description rdf:about="http://e.org/one"><e:knows rdf:resource="http://e.org/two"/></rdf:Description>\n</rdf:RDF>\n',
    {},
  ],
  [
    "english.txt",
    "Grace Hopper worked at the Bank of England. She met Ada Lovelace in London. The vector index is fast. Every vector index is. London calls the vector index. Nothing else.",
    { extract: "cooccurrence", chunkChars: 400 },
  ],
  [
    "deutsch.txt",
    "Die Firma Siemens wurde von Werner von Siemens in Berlin gegründet. Der Sitz ist heute in München, aber das Werk in Berlin steht noch. In München baut Siemens eine Turbine. Die Anlage ist neu.",
    { extract: "cooccurrence", chunkChars: 400 },
  ],
];

describe("triples of a file", () => {
  it.each(files)("R-TG-128 %s gives its triples, each with the chunk that states it", async (name, text, options) => {
    const extraction = await extract(name, text, options);
    expect(extraction.warnings).toEqual([]);
    await expect(`${linesOf(extraction).join("\n")}\n`).toMatchFileSnapshot(
      `golden/${name.toLowerCase().replaceAll(/[ .]/g, "-")}.txt`,
    );
  });

  it.each(files)("R-TG-131 %s is deterministic, and independent of chunking", async (name, text, options) => {
    const once = await extract(name, text, options);
    expect(linesOf(await extract(name, text, options))).toEqual(linesOf(once));
    if (options.extract === "cooccurrence") return;
    const bare = (extraction: Extraction) =>
      [...new Set(linesOf(extraction).map((line) => line.replace(/^#\d+ /, "")))].toSorted();
    expect(bare(await extract(name, text, { ...options, chunkChars: 37 }))).toEqual(bare(once));
  });

  it("records without a name belong to their document; rows are identified by content, not position", async () => {
    const rows = ["a,b", "1,x", "2,y"];
    const subjects = async (text: string, documentId: string) =>
      new Set([...(await extract("t.csv", text, { documentId })).parts.values()].flat().map(({ s }) => s));
    const one = await subjects(rows.join("\n"), "d1");
    expect(await subjects([rows[0], rows[2], rows[1]].join("\n"), "d1")).toEqual(one);
    expect(await subjects(rows.join("\n"), "d2")).not.toEqual(one);
  });

  it("off gives nothing; prose gives nothing unless requested", async () => {
    expect((await extract("people.csv", "name\nAda\n", { extract: "off" })).parts.size).toBe(0);
    expect((await extract("english.txt", "Grace Hopper met Ada Lovelace.")).parts.size).toBe(0);
  });

  it("values at the limit are kept, longer ones are prose", async () => {
    const { valueCharsMax } = extractionLimits;
    const values = async (chars: number) =>
      linesOf(await extract("x.json", JSON.stringify({ a: "v".repeat(chars) }))).length;
    expect([await values(valueCharsMax), await values(valueCharsMax + 1)]).toEqual([1, 0]);
  });

  it("triples at the limit are kept, one more is reported and dropped", async () => {
    const chunk = { index: 0, start: 0, end: 10, text: "0123456789" };
    const facts = new Facts([chunk], 2);
    const add = (n: number) => facts.add(0, `<urn:s${n}>`, "<urn:p>", "<urn:o>");
    add(1);
    add(2);
    expect([facts.triples, facts.full, facts.warnings]).toEqual([2, true, []]);
    add(3);
    expect(facts.triples).toBe(2);
    expect(facts.warnings).toEqual([expect.stringContaining("more than 2 triples")]);
  });

  it("malformed files: unclosed quotes, ragged rows, deep nesting, odd names, invalid front matter", async () => {
    expect(linesOf(await extract("odd.csv", 'a,b\n"x,1\ny,2,3\n')).length).toBeGreaterThan(0);
    const deep = `${'{"k":'.repeat(200)}1${"}".repeat(200)}`;
    expect(linesOf(await extract("deep.json", deep)).length).toBeLessThan(200);
    expect(linesOf(await extract("odd.json", '{"":1,"a b/<>":2,"__proto__":{"x":"\\ud800"}}')).join("\n")).toContain(
      "p/a_b",
    );
    expect(linesOf(await extract("dashes.md", "---\n: : :\n- [\n---\ntext [[A]]\n")).join("\n")).toContain("e/a");
    expect(linesOf(await extract("rule.md", "---\n\nno end of it\n")).length).toBeGreaterThan(0);
  });
});
