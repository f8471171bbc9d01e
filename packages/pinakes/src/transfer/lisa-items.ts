/**
 * Items of the LISA tables of collections and vector stores, both ways. Attributes and their order follow the reference document's
 * examples; those without an equivalent in the layout are in `pinakes`, which is absent if empty.
 */
import { invalid, show } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { trashMs } from "../knowledge/limits.ts";
import { checkDescription, checkForeignName, checkGroups } from "../knowledge/records/names.ts";
import type { CollectionRecord, RepositoryRecord } from "../knowledge/records/records.ts";
import { isoTime } from "../knowledge/records/times.ts";
import {
  epochAttribute,
  isoAttribute,
  keyPart,
  oneOf,
  optionalFlag,
  optionalMap,
  optionalText,
  text,
} from "./attributes.ts";
import { compact, giveBack, importedOf } from "./give-back.ts";
import {
  chunkingToItem,
  itemToChunking,
  itemToGraph,
  itemToMetadata,
  itemToPipelines,
  metadataToItem,
  pipelineToItem,
} from "./lisa-settings.ts";

/** Descriptions longer than the limit for new ones are kept (one-model C10). */
const anyLength = Number.MAX_SAFE_INTEGER;

export function collectionToItem(record: CollectionRecord): JsonObject {
  return compact({
    collectionId: record.collection_id,
    repositoryId: record.repository_id,
    name: record.name,
    description: record.description === "" ? undefined : record.description,
    chunkingStrategy: record.chunking_strategy === null ? undefined : chunkingToItem(record.chunking_strategy),
    allowChunkingOverride: record.allow_chunking_override,
    metadata: metadataToItem(record.metadata),
    allowedGroups: record.allowed_groups === null ? undefined : [...record.allowed_groups],
    embeddingModel: record.embedding_model,
    createdBy: record.created_by,
    createdAt: record.created_at,
    updatedAt: record.updated_at,
    status: record.status,
    private: record.private,
    pipelines: record.pipelines.length === 0 ? undefined : record.pipelines.map(pipelineToItem),
    // The layout's time to live: when it is purged, not when it was deleted (C7). Never earlier than here.
    pinakes:
      record.graph === undefined || record.graph === null ? undefined : { graph: record.graph as unknown as JsonValue },
    deletedAt:
      record.status === "DELETED" && record.purge_at !== null
        ? Math.ceil(Date.parse(record.purge_at) / 1_000)
        : undefined,
  });
}

export type CollectionFields = Omit<
  CollectionRecord,
  | "kind"
  | "collection_id"
  | "repository_id"
  | "name_key"
  | "sort_name"
  | "search_text"
  | "embedding_model"
  | "is_default"
  | "incarnation"
  | "imported"
>;

export interface CollectionKeys {
  readonly collectionId: string;
  readonly repositoryId: string;
}

export function collectionKeys(item: JsonObject): CollectionKeys {
  return {
    collectionId: keyPart(text(item, "collectionId"), "collectionId"),
    repositoryId: keyPart(text(item, "repositoryId"), "repositoryId"),
  };
}

/** The fields of an item; `made` replaces missing ones. */
export function itemToCollection(
  item: JsonObject,
  stamp: { readonly newId: () => string; readonly by: string; readonly at: string },
): CollectionFields {
  const created_at = isoAttribute(item, "createdAt") ?? stamp.at;
  const updated_at = isoAttribute(item, "updatedAt") ?? created_at;
  const created_by = optionalText(item, "createdBy") ?? stamp.by;
  const status = oneOf(optionalText(item, "status") ?? "ACTIVE", ["ACTIVE", "ARCHIVED", "DELETED"], "status");
  return {
    name: nameOf(item, "name") ?? text(item, "collectionId"),
    description: checkDescription(optionalText(item, "description") ?? "", anyLength),
    chunking_strategy: itemToChunking(item, "chunkingStrategy"),
    allow_chunking_override: optionalFlag(item, "allowChunkingOverride") ?? true,
    metadata: itemToMetadata(optionalMap(item, "metadata")),
    allowed_groups: checkGroups(item["allowedGroups"] ?? null, "allowedGroups"),
    private: optionalFlag(item, "private") ?? false,
    pipelines: itemToPipelines(item, { newId: stamp.newId, created_by, created_at }),
    graph: itemToGraph(item),
    created_by,
    created_at,
    updated_at,
    ...ending(item, status, updated_at),
  };
}

/** As an import would find it: unchanged attributes are those of the original item. */
export function exportedCollection(record: CollectionRecord): JsonObject {
  const fresh = collectionToItem(record);
  const imported = importedOf(record);
  if (imported === undefined) return fresh;
  const stamp = { newId: () => "", by: imported.by, at: imported.at };
  return giveBack(imported.item, collectionToItem({ ...record, ...itemToCollection(imported.item, stamp) }), fresh);
}

export function repositoryToItem(record: RepositoryRecord): JsonObject {
  return {
    repositoryId: record.repository_id,
    config: compact({
      repositoryId: record.repository_id,
      repositoryName: record.name === record.repository_id ? undefined : record.name,
      description: record.description === "" ? undefined : record.description,
      embeddingModelId: record.embedding_model,
      allowedGroups: [...(record.allowed_groups ?? [])],
      type: "pinakes",
      allowUserCollections: record.allow_user_collections,
      chunkingStrategy: record.chunking_strategy === null ? undefined : chunkingToItem(record.chunking_strategy),
      metadata: metadataToItem(record.metadata),
    }),
    status: "CREATE_COMPLETE",
    stackName: `lisa-rag-${record.repository_id}`,
    pinakes: {
      created_by: record.created_by,
      created_at: record.created_at,
      updated_at: record.updated_at,
      ...(record.graph === undefined || record.graph === null ? {} : { graph: record.graph as unknown as JsonValue }),
    },
  };
}

export type RepositoryFields = Pick<
  RepositoryRecord,
  | "name"
  | "description"
  | "allowed_groups"
  | "allow_user_collections"
  | "chunking_strategy"
  | "graph"
  | "metadata"
  | "created_by"
  | "created_at"
  | "updated_at"
>;

/** Rows without a newer attribute get its default (R-LISA-38). */
export function itemToRepository(
  item: JsonObject,
  stamp: { readonly by: string; readonly at: string },
): RepositoryFields {
  const repositoryId = keyPart(text(item, "repositoryId"), "repositoryId");
  const config = optionalMap(item, "config") ?? {};
  const inside = optionalText(config, "repositoryId") ?? repositoryId;
  if (inside !== repositoryId)
    throw invalid(`config.repositoryId: ${show(inside)} differs from repositoryId, ${show(repositoryId)}.`);
  const status = optionalText(item, "status") ?? "CREATE_COMPLETE";
  if (status.startsWith("DELETE")) throw invalid(`status: the store is ${status}; there is nothing to import.`);
  const own = optionalMap(item, "pinakes") ?? {};
  const created_at = isoAttribute(own, "created_at") ?? stamp.at;
  const either = <Value>(read: (from: JsonObject) => Value | undefined): Value | undefined =>
    read(config) ?? read(item);
  return {
    name: nameOf(config, "repositoryName") ?? repositoryId,
    description: checkDescription(optionalText(config, "description") ?? "", anyLength),
    allowed_groups: checkGroups(config["allowedGroups"] ?? null, "config.allowedGroups"),
    allow_user_collections: either((from) => optionalFlag(from, "allowUserCollections")) ?? true,
    chunking_strategy: itemToChunking(config, "chunkingStrategy"),
    graph: itemToGraph(item),
    metadata: itemToMetadata(either((from) => optionalMap(from, "metadata"))),
    created_by: optionalText(own, "created_by") ?? stamp.by,
    created_at,
    updated_at: isoAttribute(own, "updated_at") ?? created_at,
  };
}

/** The model as named by the item: the default collection's id derives from it, whatever model replaces it here. */
export function modelOfItem(item: JsonObject): string | undefined {
  return optionalText(optionalMap(item, "config") ?? {}, "embeddingModelId");
}

export function exportedRepository(record: RepositoryRecord): JsonObject {
  const fresh = repositoryToItem(record);
  const imported = importedOf(record);
  if (imported === undefined) return fresh;
  const fields = itemToRepository(imported.item, imported);
  // An item without a change time counts as unchanged.
  const own = optionalMap(imported.item, "pinakes");
  const { updated_at } = own === undefined ? record : fields;
  return giveBack(imported.item, repositoryToItem({ ...record, ...fields, updated_at }), fresh);
}

/** A deleted one is purged when its item would have expired; without a time, 90 days after its last change. */
function ending(item: JsonObject, status: "ACTIVE" | "ARCHIVED" | "DELETED", updatedAt: string) {
  if (status !== "DELETED") return { status, status_before: null, deleted_at: null, purge_at: null };
  const purge_at = epochAttribute(item, "deletedAt", "s") ?? isoTime(Date.parse(updatedAt) + trashMs);
  return { status, status_before: "ACTIVE" as const, deleted_at: isoTime(Date.parse(purge_at) - trashMs), purge_at };
}

function nameOf(item: JsonObject, name: string): string | undefined {
  const value = optionalText(item, name);
  return value === undefined || value === "" ? undefined : checkForeignName(value, name);
}
