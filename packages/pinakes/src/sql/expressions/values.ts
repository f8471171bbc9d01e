/**
 * Values of a query: JSON, or undefined if absent. Equality and order are those of Cosmos DB: undefined < null < false < true < numbers <
 * strings < arrays < objects; strings by the bytes of their UTF-8 form. All arrays share one position in the order and all objects another,
 * with no order among themselves; the indexes of the item store do the same.
 */
import { compareUtf8, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { canonicalJson } from "../../runtime/canonical-json.ts";

export type Value = JsonValue | undefined;

export function isObject(value: Value): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function rank(value: Value): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === "boolean") return value ? 3 : 2;
  if (typeof value === "number") return 4;
  if (typeof value === "string") return 5;
  return Array.isArray(value) ? 6 : 7;
}

/** The order of ORDER BY, MIN and MAX. */
export function compareByType(a: Value, b: Value): number {
  const byRank = rank(a) - rank(b);
  if (byRank !== 0) return byRank;
  if (typeof a === "number") return a - (b as number);
  return typeof a === "string" ? compareUtf8(a, b as string) : 0;
}

/** A value with the same sort position, without its content: what a cursor stores of an array or an object. */
export function placeOf(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

/** For < <= > >=: undefined if the two cannot be compared. */
export function compareSameType(a: Value, b: Value): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return a === null && b === null ? 0 : undefined;
}

/** Deep equality of two defined values, whatever the order of their properties. */
export function equal(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item: JsonValue, i) => equal(item, b[i] as JsonValue));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(a[name] as JsonValue, b[name] as JsonValue))
  );
}

/** Equal values have equal keys, whatever the order of their properties; undefined has its own key. */
export function canonical(value: Value): string {
  return value === undefined ? "" : canonicalJson(value);
}

/** Reads a property by name or an element by index, never through a prototype. */
export function memberOf(of: Value, key: Value): Value {
  if (typeof key === "string") return isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined;
  return typeof key === "number" && Array.isArray(of) ? (of[key] as Value) : undefined;
}

/** The result of arithmetic: undefined unless it is a JSON number; -0 becomes 0. */
export function finite(value: number): Value {
  if (!Number.isFinite(value)) return undefined;
  return value === 0 ? 0 : value;
}
