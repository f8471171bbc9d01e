/** A document as editable JSON. Pure. */
import type { JsonObject, JsonValue } from "@pinakes/client";
import { containerStrings } from "../../strings/containers.ts";
import { isObject } from "./partition-key.ts";

/** System fields: read-only, so they are not offered for editing. */
const systemNames = ["_etag", "_ts"];

export function textOf(document: JsonObject): string {
  return JSON.stringify(contentOf(document), null, 2);
}

export function contentOf(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !systemNames.includes(name)));
}

export function etagOf(document: JsonObject): string {
  return typeof document["_etag"] === "string" ? document["_etag"] : "";
}

type Parsed = { readonly document: JsonObject } | { readonly error: string };

export function parseDocument(text: string): Parsed {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { error: `${containerStrings.item.notJson} ${error instanceof Error ? error.message : ""}` };
  }
  return isObject(value) ? { document: value } : { error: containerStrings.item.notObject };
}
