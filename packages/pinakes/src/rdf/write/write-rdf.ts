/**
 * Writes quads as RDF in any supported format, as a stream of text. Nothing is sorted, and only the current subject is kept in memory:
 * quads grouped by graph and subject produce the shortest document, any other order a correct one.
 */
import { invalid, show } from "../../domain/errors.ts";
import { defaultGraph, type Quad } from "../../domain/rdf.ts";
import { rdfFormats, type RdfWriteFormat } from "../formats.ts";
import { jsonldWriter } from "./write-jsonld.ts";
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
