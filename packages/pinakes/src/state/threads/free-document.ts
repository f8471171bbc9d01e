/** Documents of any schema, as callers send and receive them. */
import type { Stored } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import type { Item } from "../../ports/item-store.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";

/** The input without system properties. workspace_id may be absent; it must not be another workspace. */
export function freeDocument(input: unknown, what: string, tenant: string): JsonObject {
  if (!isJsonObject(input)) throw invalid(`${what}: must be a JSON object, got ${show(input)}.`);
  const document = withoutSystemProperties(input);
  if (document[companionField] !== undefined) throw invalid(`${companionField}: is a system property; omit it.`);
  const { workspace_id } = document;
  if (workspace_id !== undefined && workspace_id !== tenant)
    throw new PinakesError(
      "FORBIDDEN",
      `workspace_id: must be your own workspace ("${tenant}") or omitted, got ${show(workspace_id)}.`,
    );
  return document;
}

export function requireFreeId(id: unknown, where: string): string {
  if (typeof id !== "string" || id === "")
    throw invalid(`${where}: must be a string that is not empty, got ${show(id)}.`);
  if (id.startsWith(reservedIdPrefix))
    throw invalid(`${where}: ids that start with "${reservedIdPrefix}" are reserved; choose another.`);
  return id;
}

export function freeView<Document>({
  document,
  etag,
  modifiedAt,
}: Pick<Item, "document" | "etag" | "modifiedAt">): Stored<Document> {
  return { ...document, _etag: etag, _ts: Math.floor(modifiedAt / 1_000) } as unknown as Stored<Document>;
}
