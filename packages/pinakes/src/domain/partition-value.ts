/** The partition key value of a document if the key is optional: anything but a scalar counts as no value (`{}`), as in Cosmos DB. */
import type { JsonScalar, JsonValue } from "./json.ts";
import { valueAt, type Path } from "./path.ts";
import type { JsonObject } from "./json.ts";

export type NoValue = Readonly<Record<string, never>>;

export const noValue: NoValue = Object.freeze({});

export function partitionValueOf(value: JsonValue | undefined): JsonScalar | NoValue {
  return value === undefined || (typeof value === "object" && value !== null) ? noValue : value;
}

export function isNoValue(value: unknown): value is NoValue {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** The partition of a stored document. */
export function partitionAt(document: JsonObject, paths: readonly Path[]): (JsonScalar | NoValue)[] {
  return paths.map((path) => partitionValueOf(valueAt(document, path)));
}
