/** Constructor functions such as `xsd:integer(?x)` (17.5). Undefined is a type error. */
import { literal, termOf, xsd, type LiteralTerm, type TermText } from "../../domain/rdf.ts";
import { booleanOf } from "./compare.ts";
import { momentOf, parseMoment } from "./dates.ts";
import { lexicalOf, numericOf, numericText, parseNumeric, toNumber, type Numeric } from "./numbers.ts";

type Cast = (text: TermText, term: LiteralTerm) => TermText | undefined;

const casts: Readonly<Record<string, Cast>> = {
  boolean: toBoolean,
  integer: (text, term) => toExact(text, term, "integer"),
  decimal: (text, term) => toExact(text, term, "decimal"),
  float: (text, term) => toFloating(text, term, "float"),
  double: (text, term) => toFloating(text, term, "double"),
  dateTime: (text, term) => toMoment(text, term, "dateTime"),
  date: (text, term) => toMoment(text, term, "date"),
  time: (text, term) => toMoment(text, term, "time"),
};

/** The function with this IRI, or undefined. */
export function castOf(iri: string): ((text: TermText) => TermText | undefined) | undefined {
  if (iri === `${xsd}string`) return toText;
  const cast = iri.startsWith(xsd) ? casts[iri.slice(xsd.length)] : undefined;
  if (cast === undefined) return undefined;
  return (text) => {
    const term = termOf(text);
    return term.type === "literal" && term.language === undefined ? cast(text, term) : undefined;
  };
}

function toText(text: TermText): TermText | undefined {
  const term = termOf(text);
  if (term.type === "blank") return undefined;
  const number = numericOf(text);
  if (number !== undefined) return literal(plainNumber(number));
  return literal(term.type === "literal" ? (booleanOf(text)?.toString() ?? term.value) : term.value);
}

/** Formats a number like XPath: with an exponent only if it is very small or very large. */
function plainNumber(number: Numeric): string {
  if (!("value" in number)) return lexicalOf(number);
  const { value } = number;
  const size = Math.abs(value);
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const lexical = lexicalOf(number);
  if (!(size >= 1e-6 && size < 1e6)) return lexical;
  const decimal = exactOf(Number(lexical));
  return decimal === undefined ? lexical : lexicalOf(decimal);
}

function toBoolean(text: TermText, term: LiteralTerm): TermText | undefined {
  const number = numericOf(text);
  if (number !== undefined)
    return literal(
      String("value" in number ? number.value !== 0 && !Number.isNaN(number.value) : number.digits !== 0n),
      { datatype: `${xsd}boolean` },
    );
  const value =
    term.datatype === undefined ? booleanOf(literal(term.value, { datatype: `${xsd}boolean` })) : booleanOf(text);
  return value === undefined ? undefined : literal(String(value), { datatype: `${xsd}boolean` });
}

function toExact(text: TermText, term: LiteralTerm, type: "integer" | "decimal"): TermText | undefined {
  const number = anyNumber(text, term, type);
  if (number === undefined) return undefined;
  const exact = "value" in number ? exactOf(number.value) : number;
  if (exact === undefined || "value" in exact) return undefined;
  if (type === "decimal") return numericText({ ...exact, kind: "decimal" });
  return numericText({ kind: "integer", digits: exact.digits / 10n ** BigInt(exact.scale), scale: 0 });
}

/** Every double is a decimal; exponents are expanded. */
function exactOf(value: number): Numeric | undefined {
  if (!Number.isFinite(value)) return undefined;
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const digits = mantissa.replace(".", "").replace("-", "");
  const places = digits.length - 1 - Number(exponent);
  const whole = places <= 0 ? digits + "0".repeat(-places) : digits.padStart(places + 1, "0");
  const lexical = places <= 0 ? whole : `${whole.slice(0, -places)}.${whole.slice(-places)}`;
  return parseNumeric(`${value < 0 ? "-" : ""}${lexical}`, "decimal");
}

function toFloating(text: TermText, term: LiteralTerm, type: "float" | "double"): TermText | undefined {
  const number = anyNumber(text, term, type);
  if (number === undefined) return undefined;
  const value = toNumber(number);
  return numericText({ kind: type, value: type === "float" ? Math.fround(value) : value });
}

function anyNumber(text: TermText, term: LiteralTerm, type: string): Numeric | undefined {
  if (term.datatype === undefined) return parseNumeric(term.value.trim(), type);
  const truth = booleanOf(text);
  return truth === undefined ? numericOf(text) : { kind: "integer", digits: truth ? 1n : 0n, scale: 0 };
}

function toMoment(text: TermText, term: LiteralTerm, type: "dateTime" | "date" | "time"): TermText | undefined {
  const own = (lexical: string) =>
    parseMoment(lexical, type) === undefined ? undefined : literal(lexical, { datatype: `${xsd}${type}` });
  if (term.datatype === undefined) return own(term.value.trim());
  const moment = momentOf(text);
  if (moment === undefined) return undefined;
  if (moment.kind === type) return text;
  const [date, time = ""] = term.value.split("T");
  if (moment.kind === "dateTime") return own(type === "time" ? time : `${date}${moment.zone}`);
  if (moment.kind === "date" && type === "dateTime")
    return own(`${term.value.slice(0, term.value.length - moment.zone.length)}T00:00:00${moment.zone}`);
  return undefined;
}
