/**
 * How an imported record is exported (R-LISA-34): every attribute as imported, unless it was changed here. Compares what the import made of
 * the item (`base`) with the current record (`fresh`); if both are equal, the item's own form is exported (`"size"` for `"chunkSize"`, a
 * date with another offset, unknown attributes), in the item's own order.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { AttributeTypes } from "./dynamo-json.ts";

/** The imported item, stored in the record made from it. */
export interface Imported {
  readonly item: JsonObject;
  /** What plain JSON cannot represent: see dynamo-json.ts. */
  readonly types?: AttributeTypes;
  /** Who imported it, and when: replaces a creator and times that the item lacks. */
  readonly by: string;
  readonly at: string;
  /** Mark of the import that created the record, so that it can be undone. */
  readonly mark?: string;
}

/** Maps compared attribute by attribute. In others any change replaces the whole, since a mix would be meaningless. */
const openMaps: ReadonlySet<string> = new Set(["config", "metadata", "customFields", "pinakes"]);

/** `always`: attributes with the current state, never restored from the item. */
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

/** Drops undefined attributes. */
export function compact(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
