/** The same text for equal values, whatever the order of keys: for hashes and for comparing content. */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";

export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const parts = Object.keys(value)
    .toSorted()
    .flatMap((key) => (value[key] === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(value[key])}`]));
  return `{${parts.join(",")}}`;
}

/** The same with each object as a list of pairs. Migrations and imported rows are hashed in this form (RFC 0009). */
export function canonicalPairs(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map((element: JsonValue) => canonicalPairs(element));
  if (typeof value !== "object" || value === null) return value ?? null;
  const entries = Object.entries(value as JsonObject).filter(([, property]) => property !== undefined);
  // As a list, because an object would reorder integer-like keys.
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, property]) => [key, canonicalPairs(property)]);
}
