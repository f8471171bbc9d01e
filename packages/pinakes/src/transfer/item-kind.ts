/** Which table an item is of, by its keys: they differ from table to table, so a file may have any name and hold items of several. */
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { documentKeyPrefix, metadataKey } from "./catalog-items.ts";

export const itemKinds = ["store", "collection", "catalog", "document", "catalog_document"] as const;
export type ItemKind = (typeof itemKinds)[number];

export function itemKind(item: JsonObject): ItemKind {
  const has = (name: string) => typeof item[name] === "string" && item[name] !== "";
  const sk = item["sk"];
  if (has("catalog_id") && sk === metadataKey) return "catalog";
  if (has("catalog_id") && typeof sk === "string" && sk.startsWith(documentKeyPrefix)) return "catalog_document";
  if (has("pk") && has("document_id")) return "document";
  if (has("collectionId") && has("repositoryId")) return "collection";
  if (has("repositoryId") && ("config" in item || "status" in item)) return "store";
  throw invalid(
    "The item is of no known table: it has neither (collectionId, repositoryId) nor (repositoryId, config) nor (pk, document_id) nor (catalog_id, sk).",
  );
}
