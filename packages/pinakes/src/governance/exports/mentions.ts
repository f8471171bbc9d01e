/** The parts of another subject's row that mention the subject: all that the subject may see of it. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { Naming } from "../subjects/naming.ts";

export interface Mention {
  /** Names and indexes with dots between them. */
  readonly path: string;
  readonly value: JsonValue;
}

const depthMax = 100;

export function mentionsIn(document: JsonObject, naming: Naming): readonly Mention[] {
  return mentions(document, naming, []);
}

function mentions(value: JsonValue, naming: Naming, path: readonly string[]): readonly Mention[] {
  if (value === naming.subject.id) return [{ path: path.join("."), value }];
  if (path.length >= depthMax || typeof value !== "object" || value === null) return [];
  // An object inside the row that names the subject is about the subject; the row itself is another's.
  if (path.length > 0 && isJsonObject(value) && naming.namesIn(value)) return [{ path: path.join("."), value }];
  const entries = Array.isArray(value) ? value.map((one, i) => [String(i), one] as const) : Object.entries(value);
  return entries.flatMap(([key, inner]) => (inner === undefined ? [] : mentions(inner, naming, [...path, key])));
}
