/** The view of a collection, with the counters of what the caller may see, and the number of rows that callers embedded. */
import type { Caller } from "../../domain/caller.ts";
import type { Scope } from "../../domain/scope.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { PinakesError } from "../../domain/errors.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { visibleStats } from "../access/visible-stats.ts";
import { collectionView, type CollectionView } from "../views.ts";

export async function shownCollection(
  deps: Pick<KnowledgeDependencies, "items" | "vectors">,
  caller: Caller,
  opened: OpenCollection,
): Promise<CollectionView> {
  const [stats, rows] = await Promise.all([
    visibleStats(deps, caller, opened),
    countOwnRows(deps, caller.scope, opened.collection.incarnation),
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
