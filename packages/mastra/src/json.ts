/** Values of Mastra as JSON: dates are ISO strings, `undefined` is omitted. */
import type { JsonObject, JsonValue } from "@pinakes/client";

export function toJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? "null") as JsonValue;
}

export const toJsonObject = (value: object): JsonObject => toJson(value) as JsonObject;

/** Dates may be strings, from callers that parsed JSON themselves. */
export const isoTime = (time: Date | string | number): string => new Date(time).toISOString();
