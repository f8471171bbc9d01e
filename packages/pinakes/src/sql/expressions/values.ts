/**
 * Values of a query: JSON, and undefined for what is not there. Their equality and their order, as Cosmos DB has them:
 * undefined < null < false < true < numbers < strings < arrays < objects; strings by the bytes of their UTF-8 form. Arrays have one
 * place in the order, objects another; among themselves they are not ordered, which is what an index of the item store says too.
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

/** What has the same place in that order, without its content: what a cursor needs to know of an array or an object. */
export function placeOf(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

/** For < <= > >=: undefined where the two cannot be compared. */
export function compareSameType(a: Value, b: Value): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return a === null && b === null ? 0 : undefined;
}

/** Deep equality of two values that are both there. The order of properties does not matter. */
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

/** Equal values have equal texts, whatever the order of their properties; undefined has one of its own. */
export function canonical(value: Value): string {
  return value === undefined ? "" : canonicalJson(value);
}

/** A property by its name, an element by its place; never through a prototype. */
export function memberOf(of: Value, key: Value): Value {
  if (typeof key === "string") return isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined;
  return typeof key === "number" && Array.isArray(of) ? (of[key] as Value) : undefined;
}

/** Results of arithmetic: what is not a JSON number is undefined, and -0 is 0. */
export function finite(value: number): Value {
  if (!Number.isFinite(value)) return undefined;
  return value === 0 ? 0 : value;
}
