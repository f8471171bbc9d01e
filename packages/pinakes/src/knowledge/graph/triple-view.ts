/** Triples in requests and responses: terms as text, or as `{ type, value, language?, datatype? }`. */
import type { Triple as TripleView } from "@pinakes/client";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { defaultGraph, literal, termOf, termText, type Quad, type Term, type TermText } from "../../domain/rdf.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { parseTermParameter } from "../../rdf/index.ts";

/** A term, or its text: `<iri>`, `iri`, `"words"@en`, `"1"^^xsd:integer`, `_:label`. */
export type TermInput = string | TermObject;

interface TermObject {
  readonly type: Term["type"];
  readonly value: string;
  readonly language?: string | undefined;
  readonly datatype?: string | undefined;
}

export interface TripleInput {
  readonly s: TermInput;
  readonly p: TermInput;
  readonly o: TermInput;
  /** Absent, null or "default": the unnamed graph. */
  readonly g?: TermInput | null | undefined;
}

/** Absent fields match anything. `g` null or "default" is the unnamed graph. */
export type PatternInput = Partial<{ readonly [Place in keyof TripleInput]: TripleInput[Place] | undefined }>;

export type { TripleView };

/** How requests name the unnamed graph; no IRI can equal this word. */
const defaultGraphName = "default";

export function tripleView({ s, p, o, g }: Quad): TripleView {
  return { s: termOf(s), p: termOf(p), o: termOf(o), g: g === defaultGraph ? null : termOf(g) };
}

export function readPattern({ s, p, o, g }: PatternInput): QuadPattern {
  return {
    s: s === undefined ? undefined : readTerm("s", s),
    p: p === undefined ? undefined : readTerm("p", p),
    o: o === undefined ? undefined : readTerm("o", o),
    g: g === undefined ? undefined : readGraph("g", g),
  };
}

export function isEmptyPattern({ s, p, o, g }: QuadPattern): boolean {
  return s === undefined && p === undefined && o === undefined && g === undefined;
}

export function readTriple(input: TripleInput, index: number): Quad {
  try {
    if (typeof input !== "object" || input === null)
      throw invalid(`must be an object with s, p and o; got ${show(input)}.`);
    const { s, p, o, g } = input;
    return {
      s: readTerm("s", s),
      p: readTerm("p", p),
      o: readTerm("o", o),
      g: g === undefined ? defaultGraph : readGraph("g", g),
    };
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw invalid(`triples[${index}]: ${error.detail}`, { cause: error });
  }
}

/** Parses a graph name. */
export function readGraph(name: string, input: TermInput | null): TermText {
  return input === null || input === defaultGraphName ? defaultGraph : readTerm(name, input);
}

function readTerm(name: string, input: TermInput): TermText {
  if (typeof input === "string") return parsed(name, input);
  if (typeof input !== "object" || input === null || typeof input.value !== "string")
    throw invalid(`"${name}": must be a string such as <iri> or "words", or { type, value }; got ${show(input)}.`);
  const { type, value, language, datatype } = input;
  if (type !== "literal" && (language !== undefined || datatype !== undefined))
    throw invalid(`"${name}": only a literal has a language or a datatype.`);
  return parsed(name, type === "literal" ? literal(value, { language, datatype }) : termText({ type, value }));
}

/** An unquoted object is more likely meant as a literal than as an IRI. */
function parsed(name: string, text: string): TermText {
  try {
    return parseTermParameter(name, text);
  } catch (error) {
    if (!PinakesError.isInstance(error) || name !== "o" || /^[<"_]/.test(text) || text === "") throw error;
    throw invalid(`${error.detail} If you mean words, put them in quotes: ${show(text)}.`, { cause: error });
  }
}
