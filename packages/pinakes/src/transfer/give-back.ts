/**
 * What an imported record is exported as (R-LISA-34): every attribute as it came in, unless it was changed here. Compared are what the
 * import made of the item (`base`) and what the record is now (`fresh`); where both are the same, the item's own spelling goes out
 * (`"size"` for `"chunkSize"`, a date with another zone, attributes that mean nothing to us), and in the item's own order.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { AttributeTypes } from "./dynamo-json.ts";

/** What is kept of an imported item, in the record that came of it. */
export interface Imported {
  readonly item: JsonObject;
  /** What plain JSON cannot say of it: see dynamo-json.ts. */
  readonly types?: AttributeTypes;
  /** Who imported it, and when: what stands for a maker and times that the item does not name. */
  readonly by: string;
  readonly at: string;
  /** Of the import that made the record, so that it can be undone. */
  readonly mark?: string;
}

/** Maps whose attributes are compared one by one. In others one change replaces the whole: half old and half new would mean nothing. */
const openMaps: ReadonlySet<string> = new Set(["config", "metadata", "customFields", "pinakes"]);

/** `always`: attributes that say how things are here, never how they were elsewhere. */
export function giveBack(
  item: JsonObject,
  base: JsonObject,
  fresh: JsonObject,
  always: ReadonlySet<string> = new Set(),
): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(item)) {
    const next = always.has(name) ? fresh[name] : merged(name, value, base[name], fresh[name]);
    if (next !== undefined) entries.push([name, next]);
  }
  for (const [name, value] of Object.entries(fresh)) {
    if (value === undefined || Object.hasOwn(item, name)) continue;
    if (always.has(name) || !isDeepStrictEqual(value, base[name])) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

function merged(
  name: string,
  value: JsonValue | undefined,
  base: JsonValue | undefined,
  fresh: JsonValue | undefined,
): JsonValue | undefined {
  if (isDeepStrictEqual(base, fresh)) return value;
  if (openMaps.has(name) && isJsonObject(value) && isJsonObject(fresh))
    return giveBack(value, isJsonObject(base) ? base : {}, fresh);
  return fresh;
}

export function importedOf(record: { readonly imported?: JsonObject }): Imported | undefined {
  return record.imported as Imported | undefined;
}

/** Only what is there: an absent attribute, not one that is undefined. */
export function compact(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
