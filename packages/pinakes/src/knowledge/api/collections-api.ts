/** Collections as callers see them, with their counters. */
import type { CollectionUsage } from "@pinakes/client";
import { pickCounted, recount } from "../records/recount.ts";
import { hiddenDocuments } from "../access/hidden-documents.ts";
import { visibleStats } from "../access/visible-stats.ts";
import { visibleTriples } from "../graph/visible-triples.ts";
import { CollectionPartition, emptyStats } from "../records/collection-partition.ts";
import {
  deleteCollection,
  reindexCollection,
  restoreCollection,
  type DeleteOptions,
  type ReindexInput,
} from "./begin-work.ts";
import type { Services } from "./services.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import type { ListPage, Totalled } from "../records/paging.ts";
import { shownCollection } from "../collections/shown-collection.ts";
import { collectionView, recordEtag, type CollectionChange, type CollectionView, type JobView } from "../views.ts";
import { conditionOn } from "../records/conditions.ts";
import { chunkingWarnings } from "../collections/chunking-warnings.ts";
import { effectiveChunking } from "../records/collection-fields.ts";
import type { NewCollection, OpenOptions } from "../collections/collections.ts";
import type { CollectionPatch } from "../collections/collection-patch.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { dayMs } from "../limits.ts";
import { personalAlias, personalRepositoryId } from "../records/ids.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { CollectionQuery } from "../collections/list-collections.ts";

/** Also finds a collection in the trash, and selects one incarnation of the id. */
export type CollectionChoice = Pick<OpenOptions, "deleted" | "incarnation">;

export class CollectionsApi {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  async create(caller: Caller, repositoryId: string, input: NewCollection): Promise<CollectionView> {
    const opened = await this.#services.pipelines.createWith(caller, input.pipelines ?? [], (complete) =>
      this.#services.collections.create(caller, repositoryId, input, async (fresh) => {
        const record = (await complete?.(fresh)) ?? fresh.collection;
        await this.#watchExpiry(caller, record);
        return record;
      }),
    );
    const warnings = await this.#warnings(opened);
    return { ...collectionView(opened, undefined, 0), ...(warnings.length === 0 ? {} : { warnings }) };
  }

  async get(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: CollectionChoice = {},
  ): Promise<CollectionView> {
    return this.#view(caller, await this.#services.collections.open(caller, repositoryId, collectionId, options));
  }

  async list(
    caller: Caller,
    { include_total, ...query }: CollectionQuery & Totalled = {},
  ): Promise<ListPage<CollectionView>> {
    const filter = await this.#withRepository(caller, query);
    const page = await this.#services.lists.list(caller, filter);
    const items = await Promise.all(page.items.map((opened) => this.#view(caller, opened)));
    const total = include_total === true ? { total: await this.#services.lists.count(caller, filter) } : {};
    return { items, next_cursor: page.cursor ?? null, ...total };
  }

  async count(caller: Caller, query: CollectionQuery = {}): Promise<number> {
    return this.#services.lists.count(caller, await this.#withRepository(caller, query));
  }

  async update(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    patch: CollectionPatch,
    ifMatch?: string,
  ): Promise<CollectionChange> {
    if (typeof patch.expires_after_days === "number")
      await this.#watchExpiry(caller, {
        ...(await this.#services.collections.open(caller, repositoryId, collectionId)).collection,
        expires_after_days: patch.expires_after_days,
      });
    const opened = await conditionOn(
      `Collection "${collectionId}"`,
      this.#services.collections.update(caller, repositoryId, collectionId, patch, recordEtag(ifMatch)),
    );
    const shown = await this.#view(caller, opened);
    const stale = patch.chunking_strategy !== undefined && shown.document_count > 0;
    const warnings = stale
      ? [
          `The ${shown.document_count} existing documents keep their chunks. Re-index the collection to chunk them with the new strategy.`,
        ]
      : [];
    const cut = patch.chunking_strategy === undefined ? [] : await this.#warnings(opened);
    return { ...shown, warnings: [...warnings, ...cut] };
  }

  /** Before the record says so: what is not in the registry would never expire. */
  async #watchExpiry({ scope }: Caller, collection: OpenCollection["collection"]): Promise<void> {
    const { registry, deps } = this.#services;
    if (typeof collection.expires_after_days !== "number") return;
    // One day is the least; the sweep finds the right time.
    await registry.mark(
      { kind: "expiry", tenant: scope.tenant, ...incarnationOf(collection) },
      deps.clock.now() + dayMs,
    );
  }

  /** Only for the collection's own strategy: defaults are clamped to the model without a warning. */
  async #warnings({ repository, collection }: OpenCollection): Promise<readonly string[]> {
    if (collection.chunking_strategy === null) return [];
    return chunkingWarnings(this.#services.deps, effectiveChunking(repository, collection), collection.embedding_model);
  }

  async archive(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    const archived = this.#services.archiving.archive(caller, {
      repositoryId,
      collectionId,
      ifMatch: recordEtag(ifMatch),
    });
    return this.#view(caller, await conditionOn(`Collection "${collectionId}"`, archived));
  }

  async unarchive(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    ifMatch?: string,
  ): Promise<CollectionView> {
    const unarchived = this.#services.archiving.unarchive(caller, {
      repositoryId,
      collectionId,
      ifMatch: recordEtag(ifMatch),
    });
    return this.#view(caller, await conditionOn(`Collection "${collectionId}"`, unarchived));
  }

  /** Soft delete: restorable until `purge_at`. Purge: permanent, needs its own permission, and `confirm` must be the id. */
  async delete(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: DeleteOptions = {},
  ): Promise<JobView> {
    return deleteCollection(this.#services, caller, repositoryId, collectionId, options);
  }

  /** Restores the incarnation that was deleted last, or the one named. GONE when its retention has expired. */
  async restore(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: Pick<DeleteOptions, "incarnation"> = {},
  ): Promise<CollectionView> {
    await restoreCollection(this.#services, caller, repositoryId, collectionId, options);
    return this.get(caller, repositoryId, collectionId);
  }

  /**
   * Chunks and embeds every document again, with the current strategy or another model. Searches use the old chunks until all are ready.
   */
  async reindex(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: ReindexInput = {},
  ): Promise<JobView> {
    return reindexCollection(this.#services, caller, repositoryId, collectionId, input);
  }

  /** The counters, and the counts of a fresh scan. `repair` corrects the counters. */
  async usage(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: { repair?: boolean } = {},
  ): Promise<CollectionUsage> {
    const needed = options.repair === true ? "ADMIN" : "READ";
    const opened = await this.#services.collections.open(caller, repositoryId, collectionId, {
      needed,
      action: "Counting anew",
    });
    return usageOf(this.#services, caller, opened, options);
  }

  async #view(caller: Caller, opened: OpenCollection): Promise<CollectionView> {
    return shownCollection(this.#services.deps, caller, opened);
  }

  /** Resolves the repository of a list query; one that the caller may not see does not exist. */
  async #withRepository(caller: Caller, query: CollectionQuery): Promise<CollectionQuery> {
    if (query.repositoryId === undefined) return query;
    requireCaller(caller);
    if (query.repositoryId === personalAlias) return { ...query, repositoryId: personalRepositoryId(caller.userId) };
    const { record } = await this.#services.repositories.get(caller, query.repositoryId);
    return { ...query, repositoryId: record.repository_id };
  }
}

/**
 * How much a collection holds: its counters, a fresh count, and the contents of each store. The caller has passed the access decision.
 */
async function usageOf(
  { deps, stores, rows }: Pick<Services, "deps" | "stores" | "rows">,
  caller: Caller,
  opened: OpenCollection,
  options: { repair?: boolean },
): Promise<CollectionUsage> {
  const { collection } = opened;
  if ((await hiddenDocuments(deps, caller, opened)) !== undefined) return visibleUsage({ deps, rows }, caller, opened);
  const counted = await recount(deps.items, new CollectionPartition(deps.items, caller.scope, collection), options);
  const { quads } = await deps.triples.usage(caller.scope, collection.incarnation);
  const held = await Promise.all(
    stores.map(async (one) => [one.store, await one.count(caller.scope, incarnationOf(collection))] as const),
  );
  return {
    ...counted,
    triples: quads,
    stores: {
      ...Object.fromEntries(held),
      documents: counted.recounted.document_count,
      vectors: await rows.count(caller, collection),
      triples: quads,
    },
  };
}

/** For a caller who may not see all documents: only what can be counted without the hidden ones. */
async function visibleUsage(
  { deps, rows }: Pick<Services, "deps" | "rows">,
  caller: Caller,
  opened: OpenCollection,
): Promise<CollectionUsage> {
  const counted = pickCounted((await visibleStats(deps, caller, opened))?.record ?? emptyStats);
  const visible = await visibleTriples(deps, caller, [opened]);
  const triples = await visible.count(caller.scope, opened.collection.incarnation, {});
  const vectors = await rows.count(caller, opened.collection);
  const stores = { documents: counted.document_count, vectors, triples };
  return { ...counted, recounted: counted, consistent: true, repaired: false, triples, stores };
}
