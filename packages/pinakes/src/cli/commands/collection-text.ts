/** Formats collections as text. */
import type { ChunkingStrategy, Collection } from "@pinakes/client";
import { count, fields, grid, inBytes, inTime } from "../terminal/layout.ts";
import type { Terminal } from "../terminal/terminal.ts";

export function collectionsOf(terminal: Terminal, collections: readonly Collection[]): string {
  return grid(
    terminal,
    collections.map((collection) => ({
      collection: `${collection.repository_id}/${collection.collection_id}`,
      name: collection.name,
      status: collection.status === "ACTIVE" ? collection.indexing_status : collection.status,
      documents: collection.document_count,
      passages: collection.chunk_count,
      size: inBytes(collection.total_size_bytes),
      updated: inTime(collection.updated_at),
    })),
    { whole: ["collection", "updated"], optional: ["size", "updated"] },
  );
}

export function collectionText(terminal: Terminal, collection: Collection): string {
  const {
    effective_metadata: metadata,
    effective_groups,
    own_chunking_strategy,
    own_graph,
    documents_by_status,
  } = collection;
  const notIndexed = Object.entries(documents_by_status)
    .filter(([status, number]) => status !== "indexed" && number > 0)
    .map(([status, number]) => `${number} ${status}`);
  return fields(terminal, {
    collection: `${collection.repository_id}/${collection.collection_id}`,
    name: collection.name,
    description: collection.description,
    status: collection.status,
    indexing: collection.indexing_status,
    documents: [count(collection.document_count, "document"), inBytes(collection.total_size_bytes), ...notIndexed].join(
      ", ",
    ),
    passages: collection.chunk_count,
    chunking: `${describeChunking(collection.chunking_strategy)}${own_chunking_strategy === null ? " (inherited)" : ""}`,
    graph: `${collection.graph.extract}${own_graph === null ? " (inherited)" : ""}`,
    model: collection.embedding_model,
    tags: metadata.tags.join(", "),
    fields: Object.keys(metadata.custom_fields).length === 0 ? undefined : JSON.stringify(metadata.custom_fields),
    "allowed groups": effective_groups?.join(", ") ?? "everyone in the workspace",
    private: collection.private ? "yes" : "no",
    access: collection.access ?? undefined,
    "last change": inTime(collection.updated_at),
    "last use": inTime(collection.last_used_at),
    created: `${inTime(collection.created_at)} by ${collection.created_by}`,
    life: collection.deleted_at === null && collection.displaced === undefined ? undefined : collection.incarnation,
    deleted:
      collection.deleted_at === null
        ? undefined
        : `${inTime(collection.deleted_at)}; can be restored until ${inTime(collection.purge_at)}`,
  });
}

export function describeChunking({ type, unit, chunk_size, chunk_overlap }: ChunkingStrategy): string {
  if (type === "NONE") return "NONE: each document is one chunk";
  return `${type}, ${chunk_size} ${unit === "char" ? "characters" : "tokens"}, overlap ${chunk_overlap}`;
}
