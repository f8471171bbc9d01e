/** Reads attributes of items with validation. Null and absent are equal: DynamoDB's tools write either. */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { transferLimits } from "./limits.ts";

export function text(item: JsonObject, name: string): string {
  const value = optionalText(item, name);
  if (value === undefined || value === "") throw invalid(`${name}: is missing.`);
  return value;
}

export function optionalText(item: JsonObject, name: string): string | undefined {
  const value = item[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw invalid(`${name}: must be a string, got ${show(value)}.`);
  return value;
}

export function optionalFlag(item: JsonObject, name: string): boolean | undefined {
  const value = item[name] ?? undefined;
  if (value !== undefined && typeof value !== "boolean")
    throw invalid(`${name}: must be true or false, got ${show(value)}.`);
  return value;
}

export function optionalMap(item: JsonObject, name: string): JsonObject | undefined {
  const value = item[name] ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw invalid(`${name}: must be a map, got ${show(value)}.`);
  return value;
}

export function optionalList(item: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = item[name] ?? undefined;
  if (value !== undefined && !Array.isArray(value)) throw invalid(`${name}: must be a list, got ${show(value)}.`);
  return value as readonly JsonValue[] | undefined;
}

export function oneOf<Value extends string>(value: string, values: readonly Value[], name: string): Value {
  const found = values.find((known) => known === value);
  if (found === undefined) throw invalid(`${name}: must be one of ${values.join(", ")}, got ${show(value)}.`);
  return found;
}

/** ISO 8601 with any offset; without one UTC, as Python writes it. */
export function isoAttribute(item: JsonObject, name: string): string | undefined {
  const value = optionalText(item, name);
  if (value === undefined) return undefined;
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(value);
  const ms = match === null ? Number.NaN : Date.parse(match[1] === undefined ? `${value}Z` : value);
  if (Number.isNaN(ms))
    throw invalid(`${name}: must be a time such as "2025-10-13T10:30:00.000Z", got ${show(value)}.`);
  return isoTime(ms);
}

/** Numbers below this are seconds (until the year 5138), above it milliseconds (since March 1973). */
const secondsBelow = 1e11;

export function epochAttribute(item: JsonObject, name: string, unit: "ms" | "s" | "either"): string | undefined {
  const value = item[name] ?? undefined;
  if (value === undefined) return undefined;
  const seconds = unit === "s" || (unit === "either" && typeof value === "number" && value < secondsBelow);
  const ms = typeof value === "number" ? Math.round(seconds ? value * 1_000 : value) : Number.NaN;
  if (!(ms >= 0 && ms <= 8_640_000_000_000_000))
    throw invalid(
      `${name}: must be a number of ${seconds ? "seconds" : "milliseconds"} since 1970, got ${show(value)}.`,
    );
  return isoTime(ms);
}

/** Parts of composite keys are joined by "#", so no part may contain it (R-LISA-29). */
export function keyPart(value: string, name: string): string {
  if (value.includes("#"))
    throw invalid(`${name}: an id cannot contain "#", which joins the parts of a key; got ${show(value)}.`);
  return value;
}

export function userId(item: JsonObject, name: string): string {
  const value = text(item, name);
  if (value.length > transferLimits.userIdCharsMax || /\p{Cc}/u.test(value))
    throw invalid(
      `${name}: must be 1–${transferLimits.userIdCharsMax} characters without control characters, got ${show(value)}.`,
    );
  return value;
}
