/**
 * Any number of rows with the program's own vectors: written in as many calls as needed, and removed by a filter. For stores of frameworks.
 */
import type { CollectionRef } from "../api/knowledge-api.ts";
import { collectionOf } from "../collection-ref.ts";
import type { NewRow } from "../contract/vectors.ts";
import { ConflictError, invalidInput, NotFoundError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { KnowledgeClient } from "../knowledge-client.ts";
import { inBatches } from "./in-batches.ts";

export type RowStore = Pick<KnowledgeClient, "vectors" | "collections">;

export interface AddRows {
  /** Create the collection when it is missing. */
  readonly create?: boolean | undefined;
}

/** Limits per call; the server accepts 10,000 rows and 64 MB. */
const rowsMax = 1_000;
const rowBytesMax = 16 * 1_048_576;
/** Limit per query. */
const hitsMax = 1_000;

/** In order, each call atomically. After an error the same rows can be added again: they replace existing ones. */
export async function addRows(
  knowledge: RowStore,
  at: CollectionRef,
  rows: readonly NewRow[],
  { create = false }: AddRows = {},
): Promise<void> {
  for (const batch of inBatches(rows, { itemsMax: rowsMax, bytesMax: rowBytesMax })) {
    const upsert = () => knowledge.vectors.upsert(at, batch);
    await upsert().catch(async (error: unknown) => {
      if (!create || !NotFoundError.isInstance(error)) throw error;
      await createCollection(knowledge, at);
      await upsert();
    });
  }
}

/** By ids, or by a filter. Unknown ids are not an error. */
export async function removeRows(
  knowledge: RowStore,
  at: CollectionRef,
  which: { readonly ids: readonly string[] } | { readonly filter: JsonObject },
): Promise<void> {
  const { rows } = await knowledge.vectors.manifest(at);
  if (rows === null) return;
  if ("ids" in which) {
    for (let i = 0; i < which.ids.length; i += rowsMax)
      await knowledge.vectors.delete(at, which.ids.slice(i, i + rowsMax));
    return;
  }
  if (Object.keys(which.filter).length === 0) throw invalidInput("filter: an empty one would remove every row.");
  // Any vector works: with recall 1 a query scans every matching row.
  const vector = Array.from({ length: rows.stats.settings.dims }, (_, i) => (i === 0 ? 1 : 0));
  for (;;) {
    const { hits } = await knowledge.vectors.query(at, { vector, filter: which.filter, recall: 1, limit: hitsMax });
    if (hits.length === 0) return;
    await knowledge.vectors.delete(
      at,
      hits.map(({ id }) => id),
    );
  }
}

async function createCollection({ collections }: RowStore, at: CollectionRef): Promise<void> {
  const { repository, collection } = collectionOf(at);
  try {
    await collections.create({ repository, collection_id: collection, name: collection });
  } catch (error) {
    if (!ConflictError.isInstance(error)) throw error; // Another process created it meanwhile.
  }
}
