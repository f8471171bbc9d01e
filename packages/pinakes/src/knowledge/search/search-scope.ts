/** The collections of a search: those named, those of whole repositories, or all that the caller may read. */
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { knowledgeLimits } from "../limits.ts";
import type { Collections } from "../collections/collections.ts";
import { hiddenDocuments, type HiddenDocuments } from "../access/hidden-documents.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { listCollections } from "../collections/list-collections.ts";
import { openToQuery } from "../collections/open-or-create.ts";
import type { Repositories } from "../collections/repositories.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import { ownRowsOf, type RawRows } from "./own-rows.ts";
import type { CollectionName } from "../collections/query-options.ts";
import type { CheckedSearch } from "./search-input.ts";

/** Collections read concurrently. */
export const atOnce = 16;

/** A collection with the vectors to search; without a generation it never had any data. */
export interface Target {
  readonly opened: OpenCollection;
  readonly partition: CollectionPartition;
  readonly generation: number | undefined;
  readonly model: string;
  /** Rows that callers embedded themselves; undefined if there are none. */
  readonly rows: RawRows | undefined;
  /** Documents that the caller may not see: their chunks are excluded before anything is ranked. */
  readonly hidden: HiddenDocuments | undefined;
}

export interface ScopeDependencies {
  readonly deps: KnowledgeDependencies;
  readonly collections: Collections;
  readonly catalog: CatalogRecords;
  readonly repositories: Repositories;
}

/** Which vectors of each collection to search, and their model. */
export async function findTargets(
  services: ScopeDependencies,
  caller: Caller,
  query: CheckedSearch,
): Promise<readonly Target[]> {
  const opened = await openPlaces(services, caller, query);
  // Deduplicated.
  const each = new Map(opened.map((one) => [`${one.collection.repository_id}/${one.collection.incarnation}`, one]));
  return inParallel([...each.values()], atOnce, async (one) => {
    const partition = new CollectionPartition(services.deps.items, caller.scope, one.collection);
    const [fence, rows, hidden] = await Promise.all([
      partition.fence(),
      ownRowsOf(services.deps, caller.scope, one.collection.incarnation),
      hiddenDocuments(services.deps, caller, one),
    ]);
    return {
      opened: one,
      hidden,
      partition,
      generation: fence?.record.generation,
      model: fence?.record.embedding_model ?? one.collection.embedding_model,
      rows,
    };
  });
}

async function openPlaces(
  services: ScopeDependencies,
  caller: Caller,
  query: CheckedSearch,
): Promise<readonly OpenCollection[]> {
  if (query.collections === undefined) return listed(services, caller, query, undefined);
  const opened = await inParallel(query.collections, atOnce, async (name) => {
    if (name.collection !== undefined)
      return [await openNamed(services, caller, query, { repository: name.repository, collection: name.collection })];
    const { record } = await services.repositories.get(caller, name.repository);
    return listed(services, caller, query, record.repository_id);
  });
  return opened.flat();
}

async function openNamed(
  services: ScopeDependencies,
  caller: Caller,
  query: CheckedSearch,
  name: CollectionName,
): Promise<OpenCollection> {
  const opened = await openToQuery(services, caller, name.repository, name.collection);
  if (opened.collection.status === "ACTIVE" || query.archived) return opened;
  throw new PinakesError(
    "CONFLICT",
    `Collection "${opened.collection.collection_id}" is archived; search it with archived=true, or unarchive it.`,
  );
}

/** All pages. */
async function listed(
  { deps, catalog }: ScopeDependencies,
  caller: Caller,
  query: CheckedSearch,
  repositoryId: string | undefined,
): Promise<readonly OpenCollection[]> {
  const found: OpenCollection[] = [];
  for (const status of query.archived ? (["ACTIVE", "ARCHIVED"] as const) : (["ACTIVE"] as const)) {
    let cursor: string | undefined;
    do {
      const page = await listCollections(deps.items, catalog, caller, {
        repositoryId,
        status,
        limit: knowledgeLimits.pageItemsMax,
        cursor,
      });
      found.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found;
}
