/**
 * Validates terms and returns their canonical text: equal terms must have equal texts before any engine sees them.
 *
 * A literal may contain U+0000, which PostgreSQL cannot store. So engines store it as U+10FFFF and "0", and U+10FFFF itself, a noncharacter
 * that hardly ever occurs, as U+10FFFF and "1" (RFC 0010). This is invisible outside.
 */
import { invalid, PinakesError, show } from "../domain/errors.ts";
import {
  blankLabelRest,
  blankLabelStart,
  defaultGraph,
  isLanguage,
  literal,
  type Quad,
  type TermText,
} from "../domain/rdf.ts";
import type { Position } from "./match-order.ts";
import { tripleLimits } from "./triple-limits.ts";

/** N-Triples' IRIREF, not empty. */
// oxlint-disable-next-line no-control-regex -- an IRI cannot contain control characters
const iriPattern = /^<[^\u0000-\u0020<>"{}|^`\\]+>$/;
/** As wide as the grammars, plus ":" and all letters, which earlier versions accepted. */
const labelRest = `${blankLabelRest}\\p{L}\\p{N}\\p{M}:`;
const blankPattern = new RegExp(`^_:[${blankLabelStart}\\p{L}\\p{N}:](?:[${labelRest}.]*[${labelRest}])?$`, "u");

/** Throws for an invalid term; language tags become lower case, and plain strings lose their datatype. */
export function canonicalTerm(given: TermText): TermText {
  if (typeof given !== "string")
    throw invalid(`A term is a text such as <iri>, _:label or "words"; got ${show(given)}.`);
  const text = given.startsWith('"') ? storedWords(given) : given;
  if (text.length * 3 > tripleLimits.termBytesMax && Buffer.byteLength(text) > tripleLimits.termBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `A term has at most ${tripleLimits.termBytesMax} bytes; shorten ${show(text)}.`,
    );
  if (text.startsWith('"')) return canonicalLiteral(text);
  if (iriPattern.test(text) || (text.startsWith("_:") && blankPattern.test(text))) {
    if (text.isWellFormed()) return text;
    throw invalid(`A term is well-formed Unicode; ${show(text)} contains half of a surrogate pair.`);
  }
  throw invalid(
    `${show(text)} is not a term: write <iri> without spaces or quotes, _:label, or "words" with @language or ^^<datatype> after it.`,
  );
}

function canonicalLiteral(text: TermText): TermText {
  const end = text.lastIndexOf('"');
  if (end === 0) throw invalid(`${show(text)} is not a literal: it has no closing quote.`);
  // Half of a surrogate pair would be read back as another term.
  if (!text.isWellFormed()) throw invalid(`A literal's text is well-formed Unicode; change ${show(text)}.`);
  if (end === text.length - 1) return text;
  const rest = text.slice(end + 1);
  if (rest.startsWith("@") && isLanguage(rest.slice(1))) return `${text.slice(0, end + 1)}${rest.toLowerCase()}`;
  if (rest.startsWith("^^") && iriPattern.test(rest.slice(2)))
    return literal(text.slice(1, end), { datatype: rest.slice(3, -1) });
  throw invalid(`${show(text)} is not a literal: only @language or ^^<datatype> may follow its last quote.`);
}

const mark = "\u{10FFFF}";

function storedWords(text: TermText): TermText {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, `${mark}1`).replaceAll("\0", `${mark}0`);
}

/** The term as callers know it, from the text that an engine stored. */
export function wordsOf(text: TermText): TermText {
  return text.includes(mark)
    ? text.replaceAll(/\u{10FFFF}([01])/gu, (_, digit) => (digit === "0" ? "\0" : mark))
    : text;
}

/** Only objects can be literals. */
export function quadsOf(quads: readonly Quad[]): readonly Quad[] {
  return quads.some(({ o }) => o.includes(mark)) ? quads.map((quad) => ({ ...quad, o: wordsOf(quad.o) })) : quads;
}

/** Whether a canonical term is valid in that position: subjects and graphs cannot be literals, predicates can only be IRIs. */
export function checkPlace(place: Position, text: TermText): void {
  const first = text.charCodeAt(0);
  if (first === 0x3c || place === "o") return;
  if (place === "p") throw invalid(`A predicate is an IRI; got ${show(text)}.`);
  if (first === 0x22)
    throw invalid(`${place === "s" ? "A subject" : "A graph's name"} is an IRI or a blank node; got ${show(text)}.`);
}

/** The canonical term, which must be valid in its position. Only a graph may be empty: the default graph. */
export function placedTerm(place: Position, text: TermText): TermText {
  if (place === "g" && text === defaultGraph) return text;
  const term = canonicalTerm(text);
  checkPlace(place, term);
  return term;
}
