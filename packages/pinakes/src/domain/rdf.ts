/**
 * RDF terms, and their text form inside Pinakes.
 *
 * A term's text is its N-Triples form without escapes: `<iri>`, `_:label`, `"words"`, `"words"@en`, `"1"^^<datatype>`. Equal terms have
 * equal texts and different terms different texts: the first character tells the kind, and a literal ends at its last quote, since neither
 * a language tag nor an IRI can contain one. `"x"` and `"x"^^xsd:string` are the same term, so xsd:string is never written. Language tags
 * compare without case (RDF 1.1, 3.3), so they are stored in lower case.
 */
import { invalid, show } from "./errors.ts";

export type Term = IriTerm | LiteralTerm | BlankTerm;

export interface IriTerm {
  readonly type: "iri";
  readonly value: string;
}

export interface LiteralTerm {
  readonly type: "literal";
  readonly value: string;
  readonly language?: string;
  /** Absent for plain and for language-tagged strings. */
  readonly datatype?: string;
}

export interface BlankTerm {
  readonly type: "blank";
  readonly value: string;
}

/** The text form described above. */
export type TermText = string;

/** The default graph, which has no name. */
export const defaultGraph = "";

/** A quad as texts; `g` is `defaultGraph` outside of named graphs. */
export interface Quad {
  readonly s: TermText;
  readonly p: TermText;
  readonly o: TermText;
  readonly g: TermText;
}

export const xsd = "http://www.w3.org/2001/XMLSchema#";
const xsdString = `${xsd}string`;
const languagePattern = /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/;

export function iri(value: string): TermText {
  return `<${value}>`;
}

export function blank(label: string): TermText {
  return `_:${label}`;
}

export function literal(
  value: string,
  { language, datatype }: { readonly language?: string | undefined; readonly datatype?: string | undefined } = {},
): TermText {
  if (language !== undefined && language !== "") return `"${value}"@${language.toLowerCase()}`;
  if (datatype === undefined || datatype === xsdString) return `"${value}"`;
  return `"${value}"^^<${datatype}>`;
}

export function termText(term: Term): TermText {
  switch (term.type) {
    case "iri":
      return iri(term.value);
    case "blank":
      return blank(term.value);
    case "literal":
      return literal(term.value, term);
    default:
      throw invalid(
        `A term's type is "iri", "literal" or "blank"; got ${show((term as { readonly type: unknown }).type)}.`,
      );
  }
}

export function termOf(text: TermText): Term {
  if (text.startsWith("<")) return { type: "iri", value: text.slice(1, -1) };
  if (text.startsWith("_:")) return { type: "blank", value: text.slice(2) };
  const end = text.lastIndexOf('"');
  const value = text.slice(1, end);
  const rest = text.slice(end + 1);
  if (rest === "") return { type: "literal", value };
  return rest.startsWith("@")
    ? { type: "literal", value, language: rest.slice(1) }
    : { type: "literal", value, datatype: rest.slice(3, -1) };
}

/** A literal's datatype, including the implicit ones. */
export function datatypeOf(text: TermText): string {
  const term = termOf(text);
  if (term.type !== "literal") return "";
  if (term.language !== undefined) return "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
  return term.datatype ?? xsdString;
}

/** The first character of a blank node label, and the following ones (BLANK_NODE_LABEL of the grammars), as parts of a character class. */
export const blankLabelStart =
  "A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}_0-9";
export const blankLabelRest = `${blankLabelStart}\\-\\u00b7\\u0300-\\u036f\\u203f\\u2040`;

export function isLanguage(text: string): boolean {
  return languagePattern.test(text);
}
