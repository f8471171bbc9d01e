/** JSON values, and the checks a document passes before any engine sees it. */
import { invalid } from "./errors.ts";
import { limits } from "./limits.ts";

export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Rejects what JSON would change silently (NaN, bigint, Date, functions) and what an engine could not store. */
export function checkJson(value: unknown, path = "", depth = 0): void {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value))
        throw invalid(`${path || "/"}: ${value} is not a JSON number; send a finite number or null.`);
      return;
    case "object":
      if (value === null) return;
      break;
    case "undefined":
      // As in JSON.stringify: an undefined property counts as absent. In an array it would become null.
      if (path === "" || /\/\d+$/.test(path)) throw invalid(`${path || "/"}: undefined is not a JSON value.`);
      return;
    default:
      throw invalid(`${path || "/"}: a ${typeof value} is not a JSON value.`);
  }
  if (depth >= limits.documentDepthMax) {
    throw invalid(`${path}: the document is nested deeper than ${limits.documentDepthMax} levels; flatten it.`);
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const element: unknown = value[i];
      if (element === undefined) throw invalid(`${path}/${i}: undefined is not a JSON value; use null.`);
      if (typeof element !== "string") checkJson(element, `${path}/${i}`, depth + 1);
    }
    return;
  }
  if (!isJsonObject(value)) {
    throw invalid(
      `${path || "/"}: a ${value.constructor?.name ?? "class"} is not plain JSON; convert it to a string, number or object first.`,
    );
  }
  for (const key in value) {
    const property = value[key];
    if (typeof property !== "string" && property !== undefined) checkJson(property, `${path}/${key}`, depth + 1);
  }
}

/** JSON text of a validated value. NUL is rejected because PostgreSQL cannot store it in text. */
export function stringifyChecked(value: JsonObject): string {
  checkJson(value);
  const json = JSON.stringify(value);
  if (json.includes("\\u0000")) refuseNul(value, "");
  return json;
}

function refuseNul(value: JsonValue | undefined, path: string): void {
  if (typeof value === "string") {
    if (value.includes("\0"))
      throw invalid(`${path || "/"}: the string contains a NUL character; remove it or encode the value as base64.`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value) as [string, JsonValue | undefined][]) {
    if (key.includes("\0"))
      throw invalid(`${path}/${key.replaceAll("\0", "␀")}: the property name contains a NUL character.`);
    refuseNul(child, `${path}/${key}`);
  }
}

/** UTF-8 length. Most strings are short ASCII, for which the length alone proves the bound. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

export function withinUtf8Bytes(text: string, bytesMax: number): boolean {
  return text.length * 3 <= bytesMax || utf8Bytes(text) <= bytesMax;
}

/** Byte order of the UTF-8 forms: the order of SQLite's BINARY, PostgreSQL's "C" and DynamoDB's strings. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates (above U+FFFF) sort after U+E000…U+FFFF in UTF-8, before them in UTF-16.
    const xHigh = x >= 0xd800 && x <= 0xdfff;
    const yHigh = y >= 0xd800 && y <= 0xdfff;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
