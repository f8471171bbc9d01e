/**
 * Writes quads as RDF in any supported format, as a stream of text. Nothing is sorted, and only the current subject is kept in memory:
 * quads grouped by graph and subject produce the shortest document, any other order a correct one.
 */
import { invalid, show } from "../../domain/errors.ts";
import { defaultGraph, type Quad, termOf, type TermText } from "../../domain/rdf.ts";
import { rdfNamespace } from "../check-term.ts";
import { rdfFormats, type RdfWriteFormat } from "../formats.ts";
import { linesWriter } from "./write-lines.ts";
import { turtleWriter } from "./write-turtle.ts";
import { xmlWriter } from "./write-xml.ts";

/** Converts quads to text, one after another. */
export interface QuadWriter {
  begin(): string;
  quad(quad: Quad): string;
  end(): string;
}

export interface WriteRdfOptions {
  readonly format: RdfWriteFormat;
  /** Prefixes for Turtle and TriG; the other formats write IRIs in full. */
  readonly prefixes?: Readonly<Record<string, string>> | undefined;
}

const pieceCharsMin = 16_384;

/**
 * @example
 * for await (const text of writeRdf(quads, { format: "turtle", prefixes: { schema: "https://schema.org/" } })) response.write(text);
 */
export async function* writeRdf(
  quads: AsyncIterable<Quad>,
  { format, prefixes = {} }: WriteRdfOptions,
): AsyncGenerator<string, void, void> {
  const writer = writerOf(format, prefixes);
  const { graphs, name } = rdfFormats[format];
  let text = writer.begin();
  for await (const quad of quads) {
    if (quad.g !== defaultGraph && !graphs)
      throw invalid(
        `${name} cannot contain named graphs such as ${show(quad.g)}; request TriG or N-Quads, or a single graph.`,
      );
    text += writer.quad(quad);
    if (text.length < pieceCharsMin) continue;
    yield text;
    text = "";
  }
  text += writer.end();
  if (text !== "") yield text;
}

function writerOf(format: RdfWriteFormat, prefixes: Readonly<Record<string, string>>): QuadWriter {
  switch (format) {
    case "ntriples":
    case "nquads":
      return linesWriter();
    case "turtle":
    case "trig":
      return turtleWriter(prefixes);
    case "jsonld":
      return jsonldWriter();
    case "rdfxml":
      return xmlWriter();
    default:
      throw invalid(
        `The format ${show(format)} cannot be written; use one of ${Object.keys(rdfFormats)
          .filter((known) => known !== "json")
          .join(", ")}.`,
      );
  }
}

/**
 * JSON-LD in expanded form, which needs no context: an array of nodes, one per line. Consecutive quads of the same graph share a `@graph`,
 * those of the same subject a node. A node that would need a key twice is followed by another node with the same `@id`, which JSON-LD
 * treats as the same node.
 */
const rdfType = `<${rdfNamespace}type>`;
/** The keys of a node are remembered; after this many, a new node starts. */
const nodeKeysMax = 1_000;

function jsonldWriter(): QuadWriter {
  let last: Quad | undefined;
  let key = "";
  const keys = new Set<string>();
  const endNode = "]}";
  const endGraph = () => (last === undefined ? "" : `${endNode}${last.g === defaultGraph ? "" : "\n]}"}`);
  const beginNode = (quad: Quad) => {
    keys.clear();
    keys.add(key);
    return `{"@id":${idOf(quad.s)},${JSON.stringify(key)}:[${valueOf(quad, key)}`;
  };
  return {
    begin: () => "[\n",
    quad(quad) {
      const { s, g } = quad;
      const before = last;
      const keyBefore = key;
      last = quad;
      key = keyOf(quad);
      if (before === undefined || before.g !== g) {
        const ended = before === undefined ? "" : `${endNode}${before.g === defaultGraph ? "" : "\n]}"},\n`;
        return `${ended}${g === defaultGraph ? "" : `{"@id":${idOf(g)},"@graph":[\n`}${beginNode(quad)}`;
      }
      if (before.s === s && key === keyBefore) return `,${valueOf(quad, key)}`;
      if (before.s !== s || keys.has(key) || keys.size >= nodeKeysMax) return `${endNode},\n${beginNode(quad)}`;
      keys.add(key);
      return `],${JSON.stringify(key)}:[${valueOf(quad, key)}`;
    },
    end: () => `${endGraph()}\n]\n`,
  };
}

/** A literal cannot be a value of `@type`. */
function keyOf({ p, o }: Quad): string {
  return p === rdfType && !o.startsWith('"') ? "@type" : p.slice(1, -1);
}

function idOf(text: TermText): string {
  return JSON.stringify(text.startsWith("<") ? text.slice(1, -1) : text);
}

function valueOf({ o }: Quad, key: string): string {
  if (!o.startsWith('"')) return key === "@type" ? idOf(o) : `{"@id":${idOf(o)}}`;
  const term = termOf(o);
  if (term.type !== "literal") return "";
  if (term.language !== undefined) return JSON.stringify({ "@value": term.value, "@language": term.language });
  return JSON.stringify({ "@value": term.value, ...(term.datatype === undefined ? {} : { "@type": term.datatype }) });
}
