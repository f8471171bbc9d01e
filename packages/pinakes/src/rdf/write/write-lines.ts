/** N-Triples and N-Quads: one quad per line. */
import { defaultGraph, type TermText, termOf } from "../../domain/rdf.ts";
import type { QuadWriter } from "./write-rdf.ts";

export function linesWriter(): QuadWriter {
  return {
    begin: () => "",
    quad: ({ s, p, o, g }) => `${s} ${p} ${escapedTerm(o)}${g === defaultGraph ? "" : ` ${g}`} .\n`,
    end: () => "",
  };
}

/** A term's text in N-Triples and Turtle: only literals need escaping. */
export function escapedTerm(text: TermText): string {
  if (!text.startsWith('"')) return text;
  const end = text.lastIndexOf('"');
  return `"${escapeLiteral(text.slice(1, end))}${text.slice(end)}`;
}

/** The escaped lexical form of a literal, without quotes. */
export function escapedWords(text: TermText): string {
  return escapeLiteral(termOf(text).value);
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

// oxlint-disable-next-line no-control-regex -- control characters are what is escaped
const toEscape = /["\\\u0000-\u001f\u007f]/g;

function escapeLiteral(value: string): string {
  return value.replace(
    toEscape,
    (character) => short[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}
