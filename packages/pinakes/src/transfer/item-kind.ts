/**
 * Determines the table of an item by its keys, which differ between tables: a file may have any name and contain items of several tables.
 */
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
    "The item is not of a known table: it has neither (collectionId, repositoryId) nor (repositoryId, config) nor (pk, document_id) nor (catalog_id, sk).",
  );
}
