/**
 * Reads RDF in any supported format as a stream of quads.
 *
 * Order. Quads come in the order of the document, in batches of at most `batchQuadsMax`. The document is read only on demand, batch by
 * batch, and memory use does not grow with its size.
 *
 * Errors. INVALID with the line, counted from 1. Earlier batches have already been yielded: a caller that needs all or nothing must wait
 * for the end.
 *
 * Blank nodes. See blank-labels.ts: the same file under the same prefix gives the same quads.
 */
import { invalid, show } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import { blankLabels } from "../blank-labels.ts";
import { checkedIri } from "../check-term.ts";
import { decodeUtf8 } from "./decode-utf8.ts";
import { type RdfFormat, rdfFormats } from "../formats.ts";
import { rdfLimits, type ReadLimits } from "../limits.ts";
import type { ReadContext } from "./read-context.ts";
import { readJson } from "./read-json.ts";
import { readJsonld } from "./read-jsonld.ts";
import { readTurtle } from "./read-turtle.ts";
import { readXml } from "./read-xml.ts";
import { termFactory } from "./term-factory.ts";

export interface ReadRdfOptions {
  readonly format: RdfFormat;
  /** Base IRI for relative IRIs. Without it they are an error, unless the document declares a base. */
  readonly baseIri?: string | undefined;
  /** Prefix for the blank node labels of this file: letters, digits and "-". */
  readonly blankPrefix: string;
  readonly limits?: ReadLimits | undefined;
}

/**
 * @example
 * for await (const quads of readRdf(request.body, { format: "turtle", blankPrefix: "d42" })) await store.write(scope, space, { insert: quads });
 */
export function readRdf(
  body: AsyncIterable<Uint8Array>,
  { format, baseIri, blankPrefix, limits = {} }: ReadRdfOptions,
): AsyncIterable<readonly Quad[]> {
  const termBytesMax = limits.termBytesMax ?? rdfLimits.termBytesMax;
  const nestingLevelsMax = limits.nestingLevelsMax ?? rdfLimits.nestingLevelsMax;
  if (!(termBytesMax >= rdfLimits.termBytesMin && termBytesMax <= rdfLimits.termBytesMax)) {
    throw invalid(
      `termBytesMax is at least ${rdfLimits.termBytesMin} and at most ${rdfLimits.termBytesMax}; got ${termBytesMax}.`,
    );
  }
  if (nestingLevelsMax > rdfLimits.nestingLevelsMax)
    throw invalid(`nestingLevelsMax is at most ${rdfLimits.nestingLevelsMax}; got ${nestingLevelsMax}.`);
  if (baseIri !== undefined) checkedIri(baseIri, termBytesMax);
  const factory = termFactory(blankLabels(blankPrefix), termBytesMax);
  return reader(format, decodeUtf8(body, format), { factory, baseIri, termBytesMax, nestingLevelsMax });
}

function reader(format: RdfFormat, texts: AsyncIterable<string>, context: ReadContext): AsyncIterable<readonly Quad[]> {
  switch (format) {
    case "turtle":
    case "trig":
    case "ntriples":
    case "nquads":
      return readTurtle(texts, format, context);
    case "jsonld":
      return readJsonld(texts, context);
    case "rdfxml":
      return readXml(texts, context);
    case "json":
      return readJson(texts, context);
    default:
      throw invalid(`The format ${show(format)} is unknown; use one of ${Object.keys(rdfFormats).join(", ")}.`);
  }
}
