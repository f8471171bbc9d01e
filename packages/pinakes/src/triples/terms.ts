/**
 * What is accepted as a term, and its one canonical text: equal terms must have equal texts before any engine sees them.
 *
 * A literal may hold U+0000, which PostgreSQL cannot keep. So engines get and give it as U+10FFFF and "0", and U+10FFFF itself, which is no
 * character and hardly ever met, as U+10FFFF and "1" (RFC 0010). Nobody outside sees that.
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
// oxlint-disable-next-line no-control-regex -- control characters are what an IRI cannot hold
const iriPattern = /^<[^\u0000-\u0020<>"{}|^`\\]+>$/;
/** As wide as the grammars, and ":" and all letters, which earlier versions took. */
const labelRest = `${blankLabelRest}\\p{L}\\p{N}\\p{M}:`;
const blankPattern = new RegExp(`^_:[${blankLabelStart}\\p{L}\\p{N}:](?:[${labelRest}.]*[${labelRest}])?$`, "u");

/** Throws for what is no term; the languages of literals come back in lower case, and plain words without their datatype. */
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
    throw invalid(`A term is well-formed Unicode; ${show(text)} holds half a character.`);
  }
  throw invalid(
    `${show(text)} is no term: write <iri> without spaces or quotes, _:label, or "words" with @language or ^^<datatype> behind.`,
  );
}

function canonicalLiteral(text: TermText): TermText {
  const end = text.lastIndexOf('"');
  if (end === 0) throw invalid(`${show(text)} is no literal: it has no closing quote.`);
  // Of half a character another term would come back.
  if (!text.isWellFormed()) throw invalid(`The words of a literal are well-formed Unicode; change ${show(text)}.`);
  if (end === text.length - 1) return text;
  const rest = text.slice(end + 1);
  if (rest.startsWith("@") && isLanguage(rest.slice(1))) return `${text.slice(0, end + 1)}${rest.toLowerCase()}`;
  if (rest.startsWith("^^") && iriPattern.test(rest.slice(2)))
    return literal(text.slice(1, end), { datatype: rest.slice(3, -1) });
  throw invalid(`${show(text)} is no literal: behind its last quote comes nothing, @language or ^^<datatype>.`);
}

const mark = "\u{10FFFF}";

function storedWords(text: TermText): TermText {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, `${mark}1`).replaceAll("\0", `${mark}0`);
}

/** As callers know it, from the text that an engine kept. */
export function wordsOf(text: TermText): TermText {
  return text.includes(mark)
    ? text.replaceAll(/\u{10FFFF}([01])/gu, (_, digit) => (digit === "0" ? "\0" : mark))
    : text;
}

/** Only objects are literals. */
export function quadsOf(quads: readonly Quad[]): readonly Quad[] {
  return quads.some(({ o }) => o.includes(mark)) ? quads.map((quad) => ({ ...quad, o: wordsOf(quad.o) })) : quads;
}

/** Whether a canonical term may stand there: subjects and graphs are no literals, predicates only IRIs. */
export function checkPlace(place: Position, text: TermText): void {
  const first = text.charCodeAt(0);
  if (first === 0x3c || place === "o") return;
  if (place === "p") throw invalid(`A predicate is an IRI; got ${show(text)}.`);
  if (first === 0x22)
    throw invalid(`${place === "s" ? "A subject" : "A graph's name"} is an IRI or a blank node; got ${show(text)}.`);
}

/** Canonical and fit for its place. Only a graph may be empty: the one without a name. */
export function placedTerm(place: Position, text: TermText): TermText {
  if (place === "g" && text === defaultGraph) return text;
  const term = canonicalTerm(text);
  checkPlace(place, term);
  return term;
}
