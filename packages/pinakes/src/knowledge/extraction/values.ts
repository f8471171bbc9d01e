/** Values as terms: numbers, booleans and times by their format, URLs as IRIs, everything else as strings. */
import { iri, literal, xsd, type TermText } from "../../domain/rdf.ts";
import { extractionLimits } from "./limits.ts";
import { isAbsoluteIri } from "./names.ts";

const date = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const dateTime =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;
/** Without leading zeros: a postcode or an article number is no quantity. */
const integer = /^[+-]?(0|[1-9]\d{0,17})$/;
const decimal = /^[+-]?(0|[1-9]\d{0,17})\.\d{1,18}$/;
const double = /^[+-]?\d+(\.\d+)?[eE][+-]?\d+$/;

/** A table cell, where everything is text. Undefined: empty, or too long to be a value. */
export function valueOfText(text: string): TermText | undefined {
  const value = text.trim();
  return numberOf(value) ?? truthOf(value.toLowerCase()) ?? valueOfWords(value);
}

/** A value that the format marks as text. */
export function valueOfWords(text: string): TermText | undefined {
  const value = text.trim().replaceAll("\0", "");
  if (value === "" || value.length > extractionLimits.valueCharsMax) return undefined;
  if (/^(https?|urn):/i.test(value) && isAbsoluteIri(value)) return iri(value);
  if (dateTime.test(value)) return literal(value, { datatype: `${xsd}dateTime` });
  return date.test(value) ? literal(value, { datatype: `${xsd}date` }) : literal(value.toWellFormed());
}

export function numberOf(value: string): TermText | undefined {
  if (integer.test(value)) return literal(value, { datatype: `${xsd}integer` });
  if (decimal.test(value)) return literal(value, { datatype: `${xsd}decimal` });
  return double.test(value) ? literal(value, { datatype: `${xsd}double` }) : undefined;
}

export function truthOf(value: string): TermText | undefined {
  return value === "true" || value === "false" ? literal(value, { datatype: `${xsd}boolean` }) : undefined;
}
