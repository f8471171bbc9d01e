/**
 * Serialises the results of SELECT and ASK as a stream of text. CONSTRUCT and DESCRIBE return quads, which are serialised as RDF elsewhere.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { SparqlResult } from "../types.ts";
import { writeCsv, writeTsv } from "./delimited.ts";
import { writeJson } from "./json.ts";
import { writeXml } from "./xml.ts";

export const sparqlResultFormats = [
  "application/sparql-results+json",
  "application/sparql-results+xml",
  "text/csv",
  "text/tab-separated-values",
] as const;
export type SparqlResultFormat = (typeof sparqlResultFormats)[number];

/** Chunks are joined up to about this many characters. */
const pieceChars = 16_384;

/** `more`: members beside `head` in JSON, which readers of the format ignore; the other formats cannot carry them. */
export async function* writeSparqlResults(
  result: SparqlResult,
  format: SparqlResultFormat,
  more: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<string> {
  let piece = "";
  for await (const text of writerOf(result, format, more)) {
    piece += text;
    if (piece.length < pieceChars) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function writerOf(
  result: SparqlResult,
  format: SparqlResultFormat,
  more: Readonly<Record<string, unknown>>,
): AsyncIterable<string> {
  if (result.kind === "quads")
    throw new PinakesError(
      "NOT_SUPPORTED",
      `A CONSTRUCT or DESCRIBE cannot be written as ${format}; request an RDF format such as text/turtle.`,
    );
  if (format === "application/sparql-results+json") return writeJson(result, more);
  if (format === "application/sparql-results+xml") return writeXml(result);
  if (result.kind === "boolean")
    throw new PinakesError(
      "NOT_SUPPORTED",
      `An ASK cannot be written as ${format}; request application/sparql-results+json or +xml.`,
    );
  return format === "text/csv" ? writeCsv(result) : writeTsv(result);
}
