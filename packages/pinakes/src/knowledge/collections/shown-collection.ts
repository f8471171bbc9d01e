/** The view of a collection, with its counters and the number of rows that callers embedded. */
import type { Scope } from "../../domain/scope.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { PinakesError } from "../../domain/errors.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { collectionView, type CollectionView } from "../views.ts";

export async function shownCollection(
  deps: Pick<KnowledgeDependencies, "items" | "vectors">,
  scope: Scope,
  opened: OpenCollection,
): Promise<CollectionView> {
  const { collection } = opened;
  const [stats, rows] = await Promise.all([
    new CollectionPartition(deps.items, scope, collection).stats(),
    countOwnRows(deps, scope, collection.incarnation),
  ]);
  return collectionView(opened, stats, rows);
}

/** Number of rows with vectors computed by callers; 0 if there never were any. */
async function countOwnRows(
  { vectors }: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  incarnation: string,
): Promise<number> {
  try {
    return await vectors.count(scope, ownVectorsName(incarnation));
  } catch (error) {
    if (PinakesError.isInstance(error) && error.code === "NOT_FOUND") return 0;
    throw error;
  }
}
