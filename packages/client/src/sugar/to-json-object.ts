/** Metadata of frameworks as JSON. */
import { invalidInput } from "../errors.ts";
import type { JsonObject } from "../json.ts";

/**
 * Dates become ISO strings, `undefined` in objects is omitted. Values that JSON would silently change are INVALID; `where` names them in
 * the error.
 */
export function toJsonObject(value: object, where: string): JsonObject {
  const text = JSON.stringify(value, function (this: unknown, key, part: unknown) {
    const isLost =
      (part === undefined && Array.isArray(this)) ||
      typeof part === "function" ||
      typeof part === "symbol" ||
      typeof part === "bigint" ||
      (typeof part === "number" && !Number.isFinite(part)) ||
      ArrayBuffer.isView(part) ||
      part instanceof Map ||
      part instanceof Set;
    if (!isLost) return part;
    const got =
      typeof part === "object" ? part.constructor.name : typeof part === "number" ? String(part) : typeof part;
    throw invalidInput(
      `${where}.${key}: JSON cannot represent ${got}; use strings, finite numbers, booleans, null, lists and objects.`,
    );
  });
  return JSON.parse(text) as JsonObject;
}
