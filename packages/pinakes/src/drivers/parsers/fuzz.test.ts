import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasCode } from "../../domain/errors.ts";
import { fileTypes, type FileType } from "../../ports/parser.ts";
import { openParser } from "./index.ts";
import { parseFile } from "./parse-file.ts";
import { encode, makeDocx, makePdf, par } from "./test-files.ts";

const docxStyles = '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>';
const docxBody = `${par("One", "Heading1")}${par("alpha")}<w:tbl><w:tr><w:tc>${par("x")}</w:tc><w:tc>${par("y")}</w:tc></w:tr></w:tbl>`;

const valid = {
  txt: encode("Plain text.\r\nWith lines, größer.\n"),
  log: encode("2026-01-01 INFO start\n2026-01-01 WARN x\n"),
  md: encode("---\na: 1\n---\n# One\n\ntext *x* `y`\n\n## Two\n\n- a\n- b\n\nThree\n---\n> # q\n"),
  csv: encode('a;b;c\n1;"x\ny";3\n\n4;5\nö;"q""q";7\n'),
  html: encode(
    "<title>T</title><h1>A</h1><p hidden>x</p><table><tr><td>1<td>2</table><ul><li>a<li>b</ul><pre>x\n y</pre><h2>B</h2>&amp;",
  ),
  json: encode('{"a": [1, 2.5, {"b": "x\\u00e9"}], "c": null}\n{"d": true}\n'),
  xml: encode('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "x">]><a><b k="v">x &e; <i>y</i></b><![CDATA[z]]></a>'),
  yaml: encode("a: &x [1, 2]\nb: *x\n? c\n: |\n  text\n---\n- 1\n- {k: v}\n"),
  rtf: encode(
    "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 A;}}\\outlinelevel0 Head\\par\\pard \\u8364?x\\'e9{\\*\\x y}a\\cell b\\cell\\row\\bin3 abc}",
  ),
  ttl: encode('@prefix a: <urn:a:> .\na:b a:c "d" , [ a:e 1 ] .\n'),
  nt: encode('<urn:a> <urn:b> "c"@en .\n'),
  nq: encode('<urn:a> <urn:b> "c" <urn:g> .\n'),
  trig: encode("<urn:g> { <urn:a> <urn:b> _:c }\n"),
  jsonld: encode('{"@context": {"n": "urn:n"}, "@id": "urn:a", "n": ["x", 1]}'),
  rdf: encode(
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="urn:a"/></rdf:RDF>',
  ),
  docx: makeDocx(docxBody, { "styles.xml": docxStyles }),
} satisfies Partial<Record<FileType, Uint8Array>>;

/** For PDFs: pdf.js leaves rejected promises unhandled, which only the thread expects. */
const parser = openParser({ threads: 1 });
afterAll(() => parser.close());

let pdf: Uint8Array = new Uint8Array();
beforeAll(async () => {
  pdf = await makePdf([(doc) => doc.text("First page."), (doc) => doc.text("Second page.")]);
});
const validOf = (fileType: FileType): Uint8Array => (fileType === "pdf" ? pdf : valid[fileType]);

/** Changes, removes and inserts some bytes. */
const mutation = fc.record({
  at: fc.nat(100_000),
  cut: fc.oneof(fc.constant(0), fc.nat(40)),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom(
        "<",
        ">",
        "[",
        "{",
        "}",
        '"',
        "\\",
        "\n",
        "&",
        "*a",
        "-",
        ":",
        "#",
        "<!--",
        "</",
        "\\u",
        "PK",
        "endobj",
        "0 R",
        "😀",
      )
      .map(encode),
  ),
});

/** Of a docx, half of the time the compressed content: a changed archive seldom gets as far as its text. */
function changed(fileType: FileType, mutations: Parameters<typeof mutate>[1], inside: boolean): Uint8Array {
  if (fileType !== "docx" || !inside) return mutate(validOf(fileType), mutations);
  return makeDocx(new TextDecoder().decode(mutate(encode(docxBody), mutations)), { "styles.xml": docxStyles });
}

function mutate(
  bytes: Uint8Array,
  mutations: readonly { readonly at: number; readonly cut: number; readonly put: Uint8Array }[],
): Uint8Array {
  let mutated = Buffer.from(bytes);
  for (const { at, cut, put } of mutations) {
    const place = at % (mutated.length + 1);
    mutated = Buffer.concat([mutated.subarray(0, place), put, mutated.subarray(place + cut)]);
  }
  return new Uint8Array(mutated);
}

/** Either a text with ascending positions inside it, or a readable error. True if it was read. */
async function parsesOrRefuses(bytes: Uint8Array, fileType: FileType): Promise<boolean> {
  try {
    const { text, pages, sections, rows } = await (fileType === "pdf"
      ? parser.parse({ bytes, fileType })
      : parseFile({ bytes, fileType }));
    expect(text).not.toMatch(/\0|\r/);
    expect(text.isWellFormed()).toBe(true);
    for (const list of [pages, sections, rows]) {
      const starts = list.map(({ start }) => start);
      for (const [i, start] of starts.entries()) {
        expect(start).toBeGreaterThan(i === 0 ? -1 : (starts[i - 1] as number));
        expect(start).toBeLessThan(text.length);
      }
    }
    return true;
  } catch (error) {
    if (!hasCode(error, "INVALID")) throw error;
    expect(error.detail).toMatch(/^[A-Z].*\.$/s);
    expect(error.detail).not.toContain("    at ");
    expect(error.detail).not.toContain("crashed the parser");
    return false;
  }
}

describe.each(fileTypes)("any bytes as %s", (fileType) => {
  it("the valid file is read", async () => {
    expect(await parsesOrRefuses(validOf(fileType), fileType)).toBe(true);
  });

  it("changed files are read or rejected", async () => {
    const seen = { read: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { maxLength: 4 }), fc.boolean(), async (mutations, inside) => {
        if (await parsesOrRefuses(changed(fileType, mutations, inside), fileType)) seen.read += 1;
        else seen.refused += 1;
      }),
      { numRuns: fileType === "pdf" ? 60 : 300 },
    );
    // Otherwise nothing was tested.
    expect(seen.read).toBeGreaterThan(0);
  });

  it("noise and noisy text are read or rejected", async () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: "binary", maxLength: 300 }).map(encode),
    );
    await fc.assert(
      fc.asyncProperty(noise, async (bytes) => {
        await parsesOrRefuses(bytes, fileType);
      }),
      { numRuns: 200 },
    );
  });
});
