/** Equality, comparison and sort order of terms (SPARQL 1.1 Query, 17.3 and 15.1). */
import { termOf, xsd, type TermText } from "../../domain/rdf.ts";
import { momentOf } from "./dates.ts";
import { compareNumeric, isNumericType, numericOf, type Numeric } from "./numbers.ts";

type Value =
  | { readonly kind: "iri" | "blank" | "string"; readonly text: string }
  | { readonly kind: "language"; readonly text: string; readonly language: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "number"; readonly value: Numeric }
  | { readonly kind: "dateTime" | "date" | "time"; readonly at: number; readonly zoned: boolean }
  /** Has an unknown datatype, or a lexical form that is invalid for its datatype. */
  | { readonly kind: "other" };

function valueOf(text: TermText): Value {
  const term = termOf(text);
  if (term.type === "iri") return { kind: "iri", text: term.value };
  if (term.type === "blank") return { kind: "blank", text: term.value };
  if (term.language !== undefined) return { kind: "language", text: term.value, language: term.language };
  if (term.datatype === undefined) return { kind: "string", text: term.value };
  if (isNumericType(term.datatype)) {
    const value = numericOf(text);
    return value === undefined ? { kind: "other" } : { kind: "number", value };
  }
  if (term.datatype === `${xsd}boolean`) {
    const value = booleanOf(text);
    return value === undefined ? { kind: "other" } : { kind: "boolean", value };
  }
  const moment = momentOf(text);
  return moment === undefined
    ? { kind: "other" }
    : { kind: moment.kind, at: moment.at, zoned: moment.offset !== undefined };
}

export function booleanOf(text: TermText): boolean | undefined {
  if (text === `"true"^^<${xsd}boolean>` || text === `"1"^^<${xsd}boolean>`) return true;
  if (text === `"false"^^<${xsd}boolean>` || text === `"0"^^<${xsd}boolean>`) return false;
  return undefined;
}

/** Undefined is a type error: it is unknown whether two literals mean the same. */
export function equalTerms(a: TermText, b: TermText): boolean | undefined {
  const [x, y] = [valueOf(a), valueOf(b)];
  if (x.kind === "number" && y.kind === "number") return compareNumeric(x.value, y.value) === 0;
  if (a === b) return true;
  if (x.kind === "iri" || x.kind === "blank" || y.kind === "iri" || y.kind === "blank") return false;
  // No value of any other datatype has a language.
  if ((x.kind === "language") !== (y.kind === "language")) return false;
  if (x.kind === "other" || y.kind === "other") return undefined;
  if (x.kind === "boolean" && y.kind === "boolean") return x.value === y.value;
  if ("at" in x && "at" in y && x.kind === y.kind) {
    const order = compareMoments(x, y);
    return order === undefined ? undefined : order === 0;
  }
  return false;
}

/** Negative, zero or positive; "none" if the numbers are unordered (NaN); undefined is a type error. */
export function compareTerms(a: TermText, b: TermText): number | "none" | undefined {
  const [x, y] = [valueOf(a), valueOf(b)];
  if (x.kind === "number" && y.kind === "number") return compareNumeric(x.value, y.value) ?? "none";
  if (x.kind === "string" && y.kind === "string") return compareText(x.text, y.text);
  if (x.kind === "boolean" && y.kind === "boolean") return Number(x.value) - Number(y.value);
  return "at" in x && "at" in y && x.kind === y.kind ? compareMoments(x, y) : undefined;
}

type Instant = Extract<Value, { readonly at: number }>;

/** The largest offset from UTC. */
const zoneMsMax = 14 * 3_600_000;

/** If only one of two times has a time zone, they are ordered only if no time zone could change the order (XML Schema, 3.2.7.4). */
function compareMoments(a: Instant, b: Instant): number | undefined {
  const order = a.at - b.at;
  return a.zoned === b.zoned || Math.abs(order) > zoneMsMax ? order : undefined;
}

/** By code points, as XPath compares. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x === y) continue;
    // A surrogate sorts after all characters outside of pairs.
    const [pairX, pairY] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return pairX === pairY ? x - y : pairX ? 1 : -1;
  }
  return a.length - b.length;
}

const ranks = {
  none: 0,
  blank: 1,
  iri: 2,
  number: 3,
  boolean: 4,
  dateTime: 5,
  date: 6,
  time: 7,
  string: 8,
  language: 9,
  other: 10,
} as const;

/**
 * A total, deterministic order: unbound, blank nodes, IRIs, literals. Literals are ordered by kind, then by value, then by text if the
 * values are equal or unordered.
 */
export function compareForOrder(a: TermText | undefined, b: TermText | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [x, y] = [valueOf(a), valueOf(b)];
  if (x.kind !== y.kind) return ranks[x.kind] - ranks[y.kind];
  if (x.kind === "number" && y.kind === "number") return compareNumbers(x.value, y.value);
  if ("at" in x && "at" in y) return x.at - y.at;
  if (x.kind === "boolean" && y.kind === "boolean") return Number(x.value) - Number(y.value);
  if (x.kind === "language" && y.kind === "language")
    return compareText(x.text, y.text) || compareText(x.language, y.language);
  return "text" in x && "text" in y ? compareText(x.text, y.text) : compareText(a, b);
}

/** NaN sorts before all other numbers. */
function compareNumbers(a: Numeric, b: Numeric): number {
  const order = compareNumeric(a, b);
  if (order !== undefined) return order;
  const [x, y] = [Number("value" in a && Number.isNaN(a.value)), Number("value" in b && Number.isNaN(b.value))];
  return y - x;
}

/** The effective boolean value (17.2.2); undefined is a type error. */
export function effectiveBoolean(text: TermText | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const term = termOf(text);
  if (term.type !== "literal") return undefined;
  if (term.language !== undefined || term.datatype === undefined) return term.value !== "";
  if (term.datatype === `${xsd}boolean`) return booleanOf(text) ?? false;
  if (!isNumericType(term.datatype)) return undefined;
  const value = numericOf(text);
  if (value === undefined) return false;
  return "value" in value ? value.value !== 0 && !Number.isNaN(value.value) : value.digits !== 0n;
}
