/** The functions of SPARQL 1.1 that depend only on the values of their arguments; undefined is a type error. */
import { createHash, randomUUID } from "node:crypto";
import { blank, datatypeOf, iri, literal, termOf, xsd, type TermText } from "../../domain/rdf.ts";
import { resolveIri } from "../iri.ts";
import { charsOf, compileRegex, type Regex } from "../regex/match.ts";
import { replaceMatches } from "../regex/replace.ts";
import { datePart } from "./dates.ts";
import { integer, numericOf, numericText, rounded, type Rounding } from "./numbers.ts";
import {
  checkedLength,
  concatenated,
  encodedForUri,
  languageMatches,
  plainOf,
  substring,
  textBeside,
  textTest,
  wordsLike,
  wordsOf,
} from "./strings.ts";

/** Values that are constant for a whole request. */
export interface RequestFacts {
  /** NOW(). */
  readonly now: Date;
  readonly baseIri: string | undefined;
  /** A unique label for a blank node. */
  readonly newBlank: () => string;
}

type Fn = (args: readonly TermText[], facts: RequestFacts) => TermText | undefined;

/** A function, with the number of arguments it accepts. */
export interface FunctionOf {
  readonly apply: Fn;
  readonly min: number;
  readonly max: number;
}

export function truth(value: boolean | undefined): TermText | undefined {
  return value === undefined ? undefined : value ? trueText : falseText;
}

const trueText = literal("true", { datatype: `${xsd}boolean` });
const falseText = literal("false", { datatype: `${xsd}boolean` });

const one = (apply: (text: TermText, facts: RequestFacts) => TermText | undefined): FunctionOf => ({
  apply: ([a], facts) => apply(a as TermText, facts),
  min: 1,
  max: 1,
});
const two = (apply: (a: TermText, b: TermText) => TermText | undefined): FunctionOf => ({
  apply: ([a, b]) => apply(a as TermText, b as TermText),
  min: 2,
  max: 2,
});
const none = (apply: (facts: RequestFacts) => TermText | undefined): FunctionOf => ({
  apply: (_, facts) => apply(facts),
  min: 0,
  max: 0,
});
const words = (apply: (value: string) => string | undefined): FunctionOf =>
  one((text) => {
    const term = wordsOf(text);
    const value = term === undefined ? undefined : apply(term.value);
    return term === undefined || value === undefined ? undefined : wordsLike(value, term);
  });
const kindOf = (...kinds: readonly string[]) => one((text) => truth(kinds.includes(termOf(text).type)));
const round = (how: Rounding) =>
  one((text) => {
    const value = numericOf(text);
    return value === undefined ? undefined : numericText(rounded(how, value));
  });
const hash = (name: string) =>
  one((text) => {
    const value = plainOf(text);
    return value === undefined ? undefined : literal(createHash(name).update(value, "utf8").digest("hex"));
  });

export const functions: Readonly<Record<string, FunctionOf>> = {
  str: one((text) => {
    const term = termOf(text);
    return term.type === "blank" ? undefined : literal(term.value);
  }),
  lang: one((text) => {
    const term = termOf(text);
    return term.type === "literal" ? literal(term.language ?? "") : undefined;
  }),
  langmatches: two((a, b) => {
    const [language, range] = [plainOf(a), plainOf(b)];
    return language === undefined || range === undefined ? undefined : truth(languageMatches(language, range));
  }),
  datatype: one((text) => (termOf(text).type === "literal" ? iri(datatypeOf(text)) : undefined)),
  iri: one(toIri),
  uri: one(toIri),
  isiri: kindOf("iri"),
  isuri: kindOf("iri"),
  isblank: kindOf("blank"),
  isliteral: kindOf("literal"),
  isnumeric: one((text) => truth(numericOf(text) !== undefined)),
  sameterm: two((a, b) => truth(a === b)),
  strdt: two((a, b) => {
    const [value, type] = [plainOf(a), termOf(b)];
    return value === undefined || type.type !== "iri" ? undefined : literal(value, { datatype: type.value });
  }),
  strlang: two((a, b) => {
    const [value, language] = [plainOf(a), plainOf(b)];
    return value === undefined || language === undefined || !/^[a-zA-Z]+(-[a-zA-Z0-9]+)*$/.test(language)
      ? undefined
      : literal(value, { language });
  }),
  uuid: none(() => iri(`urn:uuid:${randomUUID()}`)),
  struuid: none(() => literal(randomUUID())),
  rand: none(() => numericText({ kind: "double", value: Math.random() })),
  now: none(({ now }) => literal(now.toISOString(), { datatype: `${xsd}dateTime` })),
  abs: round("abs"),
  ceil: round("ceil"),
  floor: round("floor"),
  round: round("round"),
  strlen: one((text) => {
    const term = wordsOf(text);
    return term === undefined ? undefined : integer(Array.from(term.value).length);
  }),
  ucase: words((value) => value.toUpperCase()),
  lcase: words((value) => value.toLowerCase()),
  encode_for_uri: one((text) => {
    const term = wordsOf(text);
    const value = term === undefined ? undefined : encodedForUri(term.value);
    return value === undefined ? undefined : literal(value);
  }),
  contains: two((a, b) => truth(textTest("contains", a, b))),
  strstarts: two((a, b) => truth(textTest("strstarts", a, b))),
  strends: two((a, b) => truth(textTest("strends", a, b))),
  strbefore: two((a, b) => textBeside("strbefore", a, b)),
  strafter: two((a, b) => textBeside("strafter", a, b)),
  substr: { apply: ([a, b, c]) => substring(a as TermText, b as TermText, c), min: 2, max: 3 },
  concat: { apply: concatenated, min: 0, max: Infinity },
  regex: { apply: regexTest, min: 2, max: 3 },
  replace: { apply: regexReplace, min: 3, max: 4 },
  year: one((text) => datePart("year", text)),
  month: one((text) => datePart("month", text)),
  day: one((text) => datePart("day", text)),
  hours: one((text) => datePart("hours", text)),
  minutes: one((text) => datePart("minutes", text)),
  seconds: one((text) => datePart("seconds", text)),
  timezone: one((text) => datePart("timezone", text)),
  tz: one((text) => datePart("tz", text)),
  md5: hash("md5"),
  sha1: hash("sha1"),
  sha256: hash("sha256"),
  sha384: hash("sha384"),
  sha512: hash("sha512"),
};

function toIri(text: TermText, { baseIri }: RequestFacts): TermText | undefined {
  const term = termOf(text);
  if (term.type === "iri") return text;
  const value = term.type === "literal" ? plainOf(text) : undefined;
  if (value === undefined || /[\s\p{Cc}<>"{}|\\^`]/u.test(value)) return undefined;
  const whole = resolveIri(value, baseIri);
  return whole === undefined ? undefined : iri(checkedLength(whole));
}

/** Cache of recently compiled patterns: a pattern is nearly always the same for all rows. */
const compiled = new Map<string, Regex | undefined>();
const compiledMax = 100;

function regexOf(pattern: string, flags: string): Regex | undefined {
  const key = `${flags}/${pattern}`;
  if (compiled.has(key)) return compiled.get(key);
  const regex = compileRegex(pattern, flags);
  if (compiled.size >= compiledMax) compiled.delete(compiled.keys().next().value as string);
  compiled.set(key, regex);
  return regex;
}

function regexTest([text, pattern, flags]: readonly TermText[]): TermText | undefined {
  const term = wordsOf(text as TermText);
  const regex = regexFrom(pattern as TermText, flags);
  return term === undefined || regex === undefined ? undefined : truth(regex.test(term.value));
}

function regexFrom(pattern: TermText, flags: TermText | undefined): Regex | undefined {
  const source = plainOf(pattern);
  const flagText = flags === undefined ? "" : plainOf(flags);
  return source === undefined || flagText === undefined ? undefined : regexOf(source, flagText);
}

function regexReplace([text, pattern, replacement, flags]: readonly TermText[]): TermText | undefined {
  const term = wordsOf(text as TermText);
  const by = plainOf(replacement as TermText);
  const regex = regexFrom(pattern as TermText, flags);
  if (term === undefined || by === undefined || regex === undefined) return undefined;
  charsOf(term.value);
  const literalFlag = flags !== undefined && plainOf(flags)?.includes("q") === true;
  const value = replaceMatches(term.value, regex, by, literalFlag);
  return value === undefined ? undefined : wordsLike(value, term);
}

export function newBlank(facts: RequestFacts): TermText {
  return blank(facts.newBlank());
}
