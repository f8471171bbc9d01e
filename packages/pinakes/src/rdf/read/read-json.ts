/**
 * The JSON of the API: an array of `{ s, p, o, g }`, or an object whose `triples` is one. A term is its text (parse-term.ts) or
 * `{ type, value, language?, datatype? }`; `g` may be absent.
 */
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { defaultGraph, type Quad, type TermText } from "../../domain/rdf.ts";
import { checkedLiteral } from "../check-term.ts";
import { type JsonPart, JsonScanner } from "./json-scanner.ts";
import { rdfLimits } from "../limits.ts";
import { parseTerm } from "./parse-term.ts";
import { problemAt } from "../problem.ts";
import { QuadSink } from "./quad-sink.ts";
import type { ReadContext } from "./read-context.ts";

const listKey = "triples";
const termKeys: ReadonlySet<string> = new Set(["type", "value", "language", "datatype"]);

export async function* readJson(
  texts: AsyncIterable<string>,
  context: ReadContext,
): AsyncGenerator<readonly Quad[], void, void> {
  const scanner = new JsonScanner({
    streamed: new Set([listKey]),
    nestingLevelsMax: context.nestingLevelsMax,
    stringCharsMax: rdfLimits.tokenCharsMax,
    partCharsMax: 4 * rdfLimits.tokenCharsMax,
  });
  const sink = new QuadSink();
  let index = 0;
  const attempt = (act: () => readonly JsonPart[]): readonly JsonPart[] => {
    try {
      return act();
    } catch (error) {
      throw problemAt("json", scanner.line, error);
    }
  };
  for await (const text of texts) {
    sink.reading(text.length);
    const parts = attempt(() => scanner.write(text));
    try {
      for (const part of parts) {
        if (part.kind === "member")
          throw problemAt(
            "json",
            part.line,
            `The body must be an array of triples, or an object whose "triples" is one; "${part.key.slice(0, 60)}" is neither.`,
          );
        sink.add(item(part, index++, context));
      }
    } finally {
      // Triples before an error are yielded before it is thrown.
      yield* sink.take();
    }
  }
  attempt(() => {
    scanner.end();
    return [];
  });
}

function item(part: JsonPart, index: number, context: ReadContext): Quad {
  try {
    return quadOf(JSON.parse(part.text), context);
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw problemAt("json", part.line, invalid(`Triple ${index} (counting from 0): ${error.detail}`, { cause: error }));
  }
}

function quadOf(value: unknown, context: ReadContext): Quad {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(`it must be an object with "s", "p" and "o"; got ${show(value)}.`);
  const { s, p, o, g, ...others } = value as Record<string, unknown>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${show(other)} is unknown; a triple has "s", "p", "o" and "g".`);
  const quad = {
    s: termOf("s", s, context),
    p: termOf("p", p, context),
    o: termOf("o", o, context),
    g: g === undefined || g === null || g === "" ? defaultGraph : termOf("g", g, context),
  };
  if (quad.s.startsWith('"')) throw invalid(`"s" must be an IRI or a blank node; got a literal.`);
  if (!quad.p.startsWith("<")) throw invalid(`"p" must be an IRI.`);
  if (quad.g.startsWith('"')) throw invalid(`"g" must be an IRI or a blank node; got a literal.`);
  return quad;
}

function termOf(name: string, value: unknown, context: ReadContext): TermText {
  try {
    if (typeof value === "string") return fromText(value, context);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw invalid(`a term must be a string or { "type", "value" }; got ${show(value)}.`);
    return fromObject(value as Record<string, unknown>, context);
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw invalid(`"${name}": ${error.detail}`, { cause: error });
  }
}

function fromText(text: string, { factory, termBytesMax }: ReadContext): TermText {
  return text.startsWith("_:") ? factory.blankNode(text.slice(2)).text : parseTerm(text, termBytesMax);
}

function fromObject(term: Readonly<Record<string, unknown>>, { factory, termBytesMax }: ReadContext): TermText {
  const { type, value, language, datatype } = term;
  const other = Object.keys(term).find((key) => !termKeys.has(key));
  if (other !== undefined)
    throw invalid(`${show(other)} is unknown; a term has "type", "value", "language" and "datatype".`);
  if (typeof value !== "string") throw invalid(`"value" must be a string; got ${show(value)}.`);
  if (type !== "literal" && (isGiven(language) || isGiven(datatype)))
    throw invalid(`Only a literal has a language or a datatype; the type here is ${show(type)}.`);
  switch (type) {
    case "iri":
      return factory.namedNode(value).text;
    case "blank":
      return factory.blankNode(value.startsWith("_:") ? value.slice(2) : value).text;
    case "literal":
      return checkedLiteral(
        value,
        { language: optionalText("language", language), datatype: optionalText("datatype", datatype) },
        termBytesMax,
      );
    default:
      throw invalid(`"type" is "iri", "literal" or "blank"; got ${show(type)}.`);
  }
}

function optionalText(name: string, value: unknown): string | undefined {
  if (!isGiven(value)) return undefined;
  if (typeof value !== "string") throw invalid(`"${name}" must be a string; got ${show(value)}.`);
  return value;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
