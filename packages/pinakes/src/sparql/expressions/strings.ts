/** Functions on strings (17.4.3). Undefined is a type error. */
import { PinakesError } from "../../domain/errors.ts";
import { literal, termOf, type LiteralTerm, type TermText } from "../../domain/rdf.ts";
import { sparqlLimits } from "../limits.ts";
import { numericOf, rounded, toNumber } from "./numbers.ts";

/** A string literal, with or without a language. */
export function wordsOf(text: TermText): LiteralTerm | undefined {
  const term = termOf(text);
  return term.type === "literal" && term.datatype === undefined ? term : undefined;
}

/** Only a literal without a language. */
export function plainOf(text: TermText): string | undefined {
  const term = wordsOf(text);
  return term === undefined || term.language !== undefined ? undefined : term.value;
}

export function checkedLength(value: string): string {
  if (value.length > sparqlLimits.madeCharsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `SPARQL: a function produces a string of ${value.length} characters; at most ${sparqlLimits.madeCharsMax} are allowed (madeCharsMax).`,
    );
  return value;
}

/** A string with the language of another literal. */
export function wordsLike(value: string, like: LiteralTerm): TermText {
  return literal(checkedLength(value), { language: like.language });
}

/** Whether the second argument is compatible with the first: without a language, or with the same one. */
function fitting(a: TermText, b: TermText): readonly [LiteralTerm, LiteralTerm] | undefined {
  const [x, y] = [wordsOf(a), wordsOf(b)];
  if (x === undefined || y === undefined) return undefined;
  return y.language === undefined || y.language === x.language ? [x, y] : undefined;
}

export function textTest(how: "contains" | "strstarts" | "strends", a: TermText, b: TermText): boolean | undefined {
  const pair = fitting(a, b);
  if (pair === undefined) return undefined;
  const [x, y] = pair;
  if (how === "contains") return x.value.includes(y.value);
  return how === "strstarts" ? x.value.startsWith(y.value) : x.value.endsWith(y.value);
}

/** STRBEFORE and STRAFTER: without a match, an empty string without a language. */
export function textBeside(how: "strbefore" | "strafter", a: TermText, b: TermText): TermText | undefined {
  const pair = fitting(a, b);
  if (pair === undefined) return undefined;
  const [x, y] = pair;
  const at = x.value.indexOf(y.value);
  if (at === -1) return literal("");
  return wordsLike(how === "strbefore" ? x.value.slice(0, at) : x.value.slice(at + y.value.length), x);
}

/** Positions are those of XPath: counted in characters from 1, rounded. */
export function substring(text: TermText, from: TermText, length: TermText | undefined): TermText | undefined {
  const term = wordsOf(text);
  const start = numericOf(from);
  const count = length === undefined ? undefined : numericOf(length);
  if (term === undefined || start === undefined || (length !== undefined && count === undefined)) return undefined;
  const first = toNumber(rounded("round", start));
  const end = count === undefined ? Infinity : first + toNumber(rounded("round", count));
  const chars = Array.from(term.value).filter((_, at) => at + 1 >= first && at + 1 < end);
  return wordsLike(chars.join(""), term);
}

export function concatenated(texts: readonly TermText[]): TermText | undefined {
  const terms = texts.map(wordsOf);
  if (terms.some((term) => term === undefined)) return undefined;
  const words = terms as readonly LiteralTerm[];
  const language = words[0]?.language;
  const length = words.reduce((sum, { value }) => sum + value.length, 0);
  if (length > sparqlLimits.madeCharsMax) checkedLength(" ".repeat(sparqlLimits.madeCharsMax + 1));
  return literal(words.map(({ value }) => value).join(""), {
    language: words.every((term) => term.language === language) ? language : undefined,
  });
}

export function encodedForUri(value: string): string | undefined {
  if (!value.isWellFormed()) return undefined;
  return checkedLength(
    encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
  );
}

/** Basic filtering (RFC 4647, 3.3.1); "*" matches any language. */
export function languageMatches(language: string, range: string): boolean {
  if (range === "*") return language !== "";
  const [tag, wanted] = [language.toLowerCase(), range.toLowerCase()];
  return tag === wanted || tag.startsWith(`${wanted}-`);
}
