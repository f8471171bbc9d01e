/** Partition keys in documents and in URLs. Pure. */
import type { JsonObject, JsonValue, PartitionKeyValue } from "@pinakes/client";

export function pathsOf(partitionKey: string | readonly string[]): readonly string[] {
  return typeof partitionKey === "string" ? [partitionKey] : partitionKey;
}

/** The value at `/a/b`; undefined when there is none. */
export function valueAt(document: JsonValue | undefined, path: string): JsonValue | undefined {
  return path
    .split("/")
    .filter((name) => name !== "")
    .reduce<JsonValue | undefined>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      document,
    );
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As the API takes it: a string unchanged; numbers, several values, none, and what starts with "[" as a JSON list. */
export function pkText(values: readonly PartitionKeyValue[]): string {
  const [only] = values;
  return values.length === 1 && typeof only === "string" && only !== "" && !only.startsWith("[")
    ? only
    : JSON.stringify(values);
}

/** Undefined if the document lacks one of the values. */
export function pkOf(document: JsonObject, paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(document, path));
  return values.every(isPkValue) ? pkText(values) : undefined;
}

/** The inverse of pkText; null for an invalid list. */
export function readPk(text: string): PartitionKeyValue | readonly PartitionKeyValue[] | null {
  if (!text.startsWith("[")) return text;
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) && value.length > 0 && value.every(isPkValue) ? value : null;
  } catch {
    return null;
  }
}

function isPkValue(value: unknown): value is PartitionKeyValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
