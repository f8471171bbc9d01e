/** For the tests of this folder: texts in and out, random datasets, and a canonical hash to compare them by. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import oxigraph from "oxigraph";
import * as rdfCanonize from "rdf-canonize";
import { blank, defaultGraph, iri, literal, type Quad, xsd } from "../domain/rdf.ts";
import type { RdfFormat, RdfWriteFormat } from "./formats.ts";
import { readRdf, type ReadRdfOptions } from "./read/read-rdf.ts";
import { linesWriter } from "./write/write-lines.ts";
import { writeRdf } from "./write/write-rdf.ts";

export const allFormats: readonly RdfWriteFormat[] = ["turtle", "trig", "ntriples", "nquads", "jsonld", "rdfxml"];
export const rdfNs = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

export async function* bytesOf(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void, void> {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

export async function read(
  format: RdfFormat,
  body: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: Partial<ReadRdfOptions> = {},
): Promise<Quad[]> {
  const source = typeof body === "string" || body instanceof Uint8Array ? bytesOf(body) : body;
  const quads: Quad[] = [];
  for await (const batch of readRdf(source, { format, blankPrefix: "f", ...options })) quads.push(...batch);
  return quads;
}

export async function write(
  format: RdfWriteFormat,
  quads: readonly Quad[],
  prefixes: Readonly<Record<string, string>> = {},
): Promise<string> {
  let text = "";
  for await (const piece of writeRdf(streamOf(quads), { format, prefixes })) text += piece;
  return text;
}

export async function* streamOf(quads: readonly Quad[]): AsyncGenerator<Quad, void, void> {
  yield* quads;
}

/** The message of the error, or what was read instead. */
export async function problem(
  format: RdfFormat,
  body: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: Partial<ReadRdfOptions> = {},
): Promise<string> {
  try {
    return `no error, but ${JSON.stringify(await read(format, body, options)).slice(0, 300)}`;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return `${code}: ${message}`;
  }
}

/** RDFC-1.0: equal for datasets that differ by nothing but the labels of blank nodes. */
export async function canonicalHash(quads: readonly Quad[]): Promise<string> {
  const writer = linesWriter();
  return canonicalHashOfText([...new Set(quads.map((quad) => writer.quad(quad)))].join(""));
}

export async function canonicalHashOfText(nquads: string): Promise<string> {
  const canonical = await rdfCanonize.canonize(nquads, {
    algorithm: "RDFC-1.0",
    maxWorkFactor: Infinity,
    inputFormat: "application/n-quads",
    format: "application/n-quads",
  });
  return createHash("sha256").update(canonical).digest("hex");
}

const oxigraphTypes: Readonly<Record<RdfWriteFormat, string>> = {
  turtle: "text/turtle",
  trig: "application/trig",
  ntriples: "application/n-triples",
  nquads: "application/n-quads",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
};

/** What another implementation reads from the same document. */
export function readByOxigraph(format: RdfWriteFormat, text: string, baseIri?: string): Quad[] {
  const quads = oxigraph.parse(text, {
    format: oxigraphTypes[format],
    ...(baseIri === undefined ? {} : { base_iri: baseIri }),
  });
  return quads.map(({ subject, predicate, object, graph }) => ({
    s: textOf(subject),
    p: textOf(predicate),
    o: textOf(object),
    g: textOf(graph),
  }));
}

function textOf(term: oxigraph.Term): string {
  switch (term.termType) {
    case "NamedNode":
      return iri(term.value);
    case "BlankNode":
      return blank(term.value);
    case "Literal":
      return literal(
        term.value,
        term.language === "" ? { datatype: term.datatype.value } : { language: term.language },
      );
    default:
      return defaultGraph;
  }
}

const words = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    'say "hi"',
    "back\\slash",
    "line\nbreak",
    "tab\t",
    "carriage\rreturn",
    "<b>&amp;</b>",
    "]]>",
    "'''",
    '"""',
    "ends with \\",
    "",
    " ",
    "\ufeffmark",
    "😀",
    "{}[]",
    "\u0085\u2028",
  ),
);
const iris = fc.oneof(
  fc.constantFrom(
    "http://e.org/a",
    "http://e.org/b",
    "http://e.org/c#d",
    "urn:x:y",
    "http://e.org/é/ü",
    "http://e.org/a/../b/./c",
    "http://e.org/?q=1&r='2'",
    "mailto:a@e.org",
    "http://e.org/%20x",
    "http://e.org",
  ),
  fc.stringMatching(/^[a-z0-9.~_-]{1,8}$/).map((end) => `http://e.org/${end}`),
);
const predicates = fc.constantFrom(
  "http://e.org/p",
  "http://e.org/ns#q",
  "http://e.org/é",
  `${rdfNs}type`,
  `${rdfNs}first`,
  `${rdfNs}rest`,
  `${rdfNs}_1`,
  "urn:x:knows",
  "http://e.org/a.b-c",
);
const blanks = fc.constantFrom("a", "b", "c1", "0", "x-y", "a.b", "é");
const literals = fc.oneof(
  words.map((value) => literal(value)),
  fc
    .tuple(words, fc.constantFrom("en", "de-at", "zh-hans-cn", "x-private"))
    .map(([value, language]) => literal(value, { language })),
  fc
    .tuple(
      words,
      fc.constantFrom(
        `${xsd}integer`,
        `${xsd}string`,
        `${xsd}boolean`,
        `${xsd}double`,
        "http://e.org/type",
        `${rdfNs}JSON`,
        `${rdfNs}XMLLiteral`,
      ),
    )
    .map(([value, datatype]) => literal(value, { datatype })),
);
const nodes = fc.oneof(iris.map(iri), blanks.map(blank));

/** Without what XML cannot hold, unless asked for. */
export function datasets(options: { readonly graphs: boolean; readonly xml: boolean }): fc.Arbitrary<readonly Quad[]> {
  const quad = fc.record({
    s: nodes,
    p: predicates.map(iri),
    o: fc.oneof(nodes, literals),
    g: options.graphs ? fc.oneof(fc.constant(defaultGraph), nodes) : fc.constant(defaultGraph),
  });
  // oxlint-disable-next-line no-control-regex -- XML cannot hold control characters
  const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
  const fits = ({ o }: Quad) => !o.includes("\0") && o.isWellFormed() && !(options.xml && notInXml.test(o));
  return fc.array(quad.filter(fits), { maxLength: 12 });
}
