/**
 * Lists of collections: of one repository or of all, filtered and ordered, only what the caller may see. Pages are exact: what is
 * not visible is skipped while the page is filled, and the cursor stands behind the last one looked at.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import type { Item, ItemStore, Query, SessionTokens } from "../../ports/item-store.ts";
import { knowledgeLimits } from "../limits.ts";
import { decideCollection } from "./access.ts";
import type { OpenCollection } from "./collections.ts";
import type { Library } from "./library.ts";
import { collectionsContainer, collectionStatuses, type CollectionRecord, type CollectionStatus, type RepositoryRecord } from "./records.ts";

export interface CollectionQuery {
  /** Absent: those of all repositories. */
  readonly repositoryId?: string | undefined;
  /** In the name or the description, ignoring case. */
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  /** Absent: ACTIVE. `all`: every status but the purged. */
  readonly status?: CollectionStatus | "all" | undefined;
  readonly created_by?: string | undefined;
  readonly sort?: "created_at" | "updated_at" | "name" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly session?: SessionTokens | undefined;
}

export interface CollectionPage {
  readonly items: readonly OpenCollection[];
  readonly cursor?: string;
}

export async function listCollections(items: ItemStore, library: Library, caller: Caller, query: CollectionQuery): Promise<CollectionPage> {
  const scope = requireCaller(caller);
  const limit = checkLimit(query.limit);
  const plan = planOf(query);
  const found: OpenCollection[] = [];
  const repositories = new Map<string, RepositoryRecord>();
  let { cursor } = query;
  do {
    const page = await items.query(scope, collectionsContainer.name, { ...plan, limit: limit - found.length, cursor });
    await loadRepositories(library, caller, page.items, repositories);
    for (const item of page.items) {
      const visible = visibleTo(caller, item, repositories);
      if (visible !== undefined) found.push(visible);
    }
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < limit);
  return { items: found, ...(cursor === undefined ? {} : { cursor }) };
}

/** How many a walk over all pages would give. */
export async function countCollections(items: ItemStore, library: Library, caller: Caller, query: CollectionQuery): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await listCollections(items, library, caller, { ...query, limit: knowledgeLimits.pageItemsMax, cursor });
    count += page.items.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return count;
}

const indexes = { created_at: ["byCreated", "allByCreated"], updated_at: ["byUpdated", "allByUpdated"], name: ["byName", "allByName"] } as const;

function planOf(query: CollectionQuery): Query {
  const { repositoryId, q, tag, status = "ACTIVE", created_by, sort = "created_at" } = query;
  if (!Object.hasOwn(indexes, sort)) throw invalid(`sort: must be created_at, updated_at or name, got ${show(sort)}.`);
  if (status !== "all" && !collectionStatuses.includes(status))
    throw invalid(`status: must be all or one of ${collectionStatuses.join(", ")}, got ${show(status)}.`);
  const order = query.order ?? (sort === "name" ? "asc" : "desc");
  if (order !== "asc" && order !== "desc") throw invalid(`order: must be asc or desc, got ${show(order)}.`);
  const session = query.session === undefined ? {} : { session: query.session };
  const filter: Filter = {
    ...(q === undefined ? {} : { search_text: { contains: q.normalize("NFC").toLowerCase() } }),
    ...(tag === undefined ? {} : { "metadata.tags": { contains: tag } }),
    ...(created_by === undefined ? {} : { created_by }),
  };
  const byStatus = status === "all" ? {} : { status };
  if (repositoryId !== undefined && status !== "all" && sort === "created_at")
    return { index: "byStatus", equals: { repository_id: repositoryId, kind: "collection", status }, order, filter, ...session };
  if (repositoryId !== undefined)
    return { index: indexes[sort][0], equals: { repository_id: repositoryId, kind: "collection" }, order, filter: { ...filter, ...byStatus }, ...session };
  if (created_by !== undefined && sort === "created_at")
    return { index: "byCreator", equals: { kind: "collection", created_by }, order, filter: { ...filter, ...byStatus }, ...session };
  return { index: indexes[sort][1], equals: { kind: "collection" }, order, filter: { ...filter, ...byStatus }, ...session };
}

export function checkLimit(limit: number | undefined): number {
  const { pageItemsDefault, pageItemsMax } = knowledgeLimits;
  if (limit === undefined) return pageItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${pageItemsMax}, got ${show(limit)}.`);
}

async function loadRepositories(library: Library, caller: Caller, page: readonly Item[], known: Map<string, RepositoryRecord>): Promise<void> {
  const missing = new Set(page.map(({ document }) => document["repository_id"] as string).filter((id) => !known.has(id)));
  if (missing.size === 0) return;
  for (const [id, repository] of await library.repositories(caller.scope, [...missing])) known.set(id, repository);
}

function visibleTo(caller: Caller, { document, etag }: Item, repositories: ReadonlyMap<string, RepositoryRecord>): OpenCollection | undefined {
  const { id: _, ...collection } = document as unknown as CollectionRecord & { id: string };
  const repository = repositories.get(collection.repository_id);
  if (repository === undefined) return undefined;
  const decision = decideCollection(caller, repository, collection);
  return decision.level === null ? undefined : { repository, collection, etag, decision };
}
