/**
 * Lists of collections: of one repository or of all, filtered and sorted, only what the caller may see. Pages are exact: invisible
 * collections are skipped while a page is filled, and the cursor is after the last one read. Lists by tags, last use and size are in
 * gather-collections.ts.
 */
import { collectionSorts, type CollectionSort } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Filter } from "../../domain/filter.ts";
import type { Item, ItemStore, Query, SessionTokens } from "../../ports/item-store.ts";
import { knowledgeLimits } from "../limits.ts";
import { compareUtf8 } from "../../domain/json.ts";
import { decideCollection, notFound } from "../access/access.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { collectionItemId, type CatalogRecords } from "../records/catalog-records.ts";
import { checkAskedId } from "../records/names.ts";
import {
  collectionsContainer,
  collectionStatuses,
  type CollectionRecord,
  type CollectionStatus,
  type RepositoryRecord,
} from "../records/records.ts";

export interface CollectionQuery {
  /** Absent: all repositories. */
  readonly repositoryId?: string | undefined;
  /** In the name or the description, case-insensitive. */
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  /** `tag_match`: all of them (default) or any. */
  readonly tags?: readonly string[] | undefined;
  readonly tag_match?: "any" | "all" | undefined;
  /** Absent: ACTIVE. `live`: also ARCHIVED. `all`: every status but the purged. */
  readonly status?: CollectionStatus | "live" | "all" | undefined;
  readonly created_by?: string | undefined;
  readonly sort?: CollectionSort | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Not uploaded to or queried since this time. */
  readonly unused_since?: string | undefined;
  readonly min_size_bytes?: number | undefined;
  readonly max_size_bytes?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** With `repositoryId`, sorted by created_at: the id of a collection of it; the list begins behind that one. NOT_FOUND where it is not visible. */
  readonly after?: string | undefined;
  readonly session?: SessionTokens | undefined;
}

export interface CollectionPage {
  readonly items: readonly OpenCollection[];
  readonly cursor?: string;
}

export async function listCollections(
  items: ItemStore,
  catalog: CatalogRecords,
  caller: Caller,
  query: CollectionQuery,
): Promise<CollectionPage> {
  const scope = requireCaller(caller);
  const limit = checkLimit(query.limit);
  const from = await placeOf(catalog, caller, query);
  const plan = { ...planOf(query), ...(from === undefined ? {} : from.range) };
  const found: OpenCollection[] = [];
  const repositories = new Map<string, RepositoryRecord>();
  let { cursor } = query;
  do {
    const page = await items.query(scope, collectionsContainer.name, { ...plan, limit: limit - found.length, cursor });
    const behind = from === undefined ? page.items : page.items.filter(from.isBehind);
    found.push(...(await visibleAmong(catalog, caller, behind, repositories)));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < limit);
  return { items: found, ...(cursor === undefined ? {} : { cursor }) };
}

/** The range of the index that `after` leaves, and what of that range lies behind it: several may have been created in one millisecond. */
async function placeOf(
  catalog: CatalogRecords,
  caller: Caller,
  query: CollectionQuery,
): Promise<{ readonly range: Pick<Query, "range">; readonly isBehind: (item: Item) => boolean } | undefined> {
  const { after, repositoryId, sort = "created_at" } = query;
  if (after === undefined) return undefined;
  if (repositoryId === undefined || sort !== "created_at")
    throw invalid("after: needs the repository, and the order of created_at.");
  checkAskedId(after, "after");
  const [parent, found] = await catalog.both(caller.scope, repositoryId, after);
  if (
    parent === undefined ||
    found === undefined ||
    decideCollection(caller, parent.record, found.record).level === null
  )
    throw notFound(`collection ${show(after)}`);
  const descending = orderOf(query) === "desc";
  const { created_at } = found.record;
  const place = [created_at, collectionItemId(found.record)] as const;
  return {
    range: { range: descending ? { lte: created_at } : { gte: created_at } },
    isBehind: ({ id, document }) => {
      const difference = compareUtf8(document["created_at"] as string, place[0]) || compareUtf8(id, place[1]);
      return descending ? difference < 0 : difference > 0;
    },
  };
}

const indexes = {
  created_at: ["byCreated", "allByCreated"],
  updated_at: ["byUpdated", "allByUpdated"],
  name: ["byName", "allByName"],
} as const;

export function orderOf({ sort = "created_at", order }: CollectionQuery): "asc" | "desc" {
  if (!collectionSorts.includes(sort))
    throw invalid(`sort: must be one of ${collectionSorts.join(", ")}, got ${show(sort)}.`);
  if (order !== undefined && order !== "asc" && order !== "desc")
    throw invalid(`order: must be asc or desc, got ${show(order)}.`);
  return order ?? (sort === "name" ? "asc" : "desc");
}

/** The filter on records, however they were found, except for their tags. */
export function filterOf({ q, status = "ACTIVE", created_by }: CollectionQuery): Filter {
  if (status !== "all" && status !== "live" && !collectionStatuses.includes(status))
    throw invalid(`status: must be all, live or one of ${collectionStatuses.join(", ")}, got ${show(status)}.`);
  return {
    ...(q === undefined ? {} : { search_text: { contains: q.normalize("NFC").toLowerCase() } }),
    ...(created_by === undefined ? {} : { created_by }),
    ...(status === "all" ? {} : { status: status === "live" ? { in: ["ACTIVE", "ARCHIVED"] } : status }),
  };
}

/** For sorts that have an index. */
export function planOf(query: CollectionQuery): Query {
  const { repositoryId, status = "ACTIVE", created_by, sort = "created_at" } = query;
  const order = orderOf(query);
  invariant(sort in indexes, "INTERNAL", "a sort without an index");
  const [ofOne, ofAll] = indexes[sort as keyof typeof indexes];
  const session = query.session === undefined ? {} : { session: query.session };
  const filter = filterOf(query);
  if (repositoryId !== undefined && status !== "all" && status !== "live" && sort === "created_at")
    return {
      index: "byStatus",
      equals: { repository_id: repositoryId, kind: "collection", status },
      order,
      filter,
      ...session,
    };
  if (repositoryId !== undefined)
    return { index: ofOne, equals: { repository_id: repositoryId, kind: "collection" }, order, filter, ...session };
  if (created_by !== undefined && sort === "created_at")
    return { index: "byCreator", equals: { kind: "collection", created_by }, order, filter, ...session };
  // Most collections are ACTIVE; other statuses may be rare, so use their index.
  if (sort === "created_at" && status !== "all" && status !== "live" && status !== "ACTIVE")
    return { index: "allByStatus", equals: { kind: "collection", status }, order, filter, ...session };
  return { index: ofAll, equals: { kind: "collection" }, order, filter, ...session };
}

export function checkLimit(limit: number | undefined): number {
  const { pageItemsDefault, pageItemsMax } = knowledgeLimits;
  if (limit === undefined) return pageItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${pageItemsMax}, got ${show(limit)}.`);
}

/** The collections that the caller may see, with the access decision. */
export async function visibleAmong(
  catalog: CatalogRecords,
  caller: Caller,
  items: readonly Item[],
  repositories = new Map<string, RepositoryRecord>(),
): Promise<readonly OpenCollection[]> {
  await loadRepositories(catalog, caller, items, repositories);
  return items.flatMap((item) => visibleTo(caller, item, repositories) ?? []);
}

async function loadRepositories(
  catalog: CatalogRecords,
  caller: Caller,
  page: readonly Item[],
  known: Map<string, RepositoryRecord>,
): Promise<void> {
  const missing = new Set(
    page.map(({ document }) => document["repository_id"] as string).filter((id) => !known.has(id)),
  );
  if (missing.size === 0) return;
  for (const [id, repository] of await catalog.repositories(caller.scope, [...missing])) known.set(id, repository);
}

function visibleTo(
  caller: Caller,
  { document, etag }: Item,
  repositories: ReadonlyMap<string, RepositoryRecord>,
): OpenCollection | undefined {
  const { id: _, ...collection } = document as unknown as CollectionRecord & { id: string };
  const repository = repositories.get(collection.repository_id);
  if (repository === undefined) return undefined;
  const decision = decideCollection(caller, repository, collection);
  return decision.level === null ? undefined : { repository, collection, etag, decision };
}
