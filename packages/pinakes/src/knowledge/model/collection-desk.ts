/** Collections as callers see them: each with its counters. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { Shelf } from "../documents/shelf.ts";
import type { ListPage } from "../paging.ts";
import type { KnowledgeParts } from "../parts.ts";
import { collectionView, recordEtag, type CollectionChange, type CollectionView } from "../views.ts";
import type { CollectionArchiving } from "./archive-collection.ts";
import type { CollectionPatch, Collections, NewCollection, OpenCollection, OpenOptions } from "./collections.ts";
import type { CollectionLists } from "./gather-collections.ts";
import { personalAlias, personalRepositoryId } from "./ids.ts";
import type { Stored } from "./library.ts";
import type { CollectionQuery } from "./list-collections.ts";
import type { StatsRecord } from "./records.ts";
import type { Repositories } from "./repositories.ts";

/** Also one in the trash, and which of the lives that had the id. */
export type CollectionChoice = Pick<OpenOptions, "deleted" | "incarnation">;

interface CollectionDeskPieces {
  readonly parts: Pick<KnowledgeParts, "items">;
  readonly repositories: Repositories;
  readonly collections: Collections;
  readonly lists: CollectionLists;
  readonly archiving: CollectionArchiving;
}

export class CollectionDesk {
  readonly #pieces: CollectionDeskPieces;

  constructor(pieces: CollectionDeskPieces) {
    this.#pieces = pieces;
  }

  async create(caller: Caller, repositoryId: string, input: NewCollection): Promise<CollectionView> {
    return collectionView(await this.#pieces.collections.create(caller, repositoryId, input), undefined);
  }

  async get(caller: Caller, repositoryId: string, collectionId: string, options: CollectionChoice = {}): Promise<CollectionView> {
    return this.#view(caller, await this.#pieces.collections.open(caller, repositoryId, collectionId, options));
  }

  async list(caller: Caller, query: CollectionQuery): Promise<ListPage<CollectionView>> {
    const page = await this.#pieces.lists.list(caller, await this.#withRepository(caller, query));
    return { items: await Promise.all(page.items.map((opened) => this.#view(caller, opened))), next_cursor: page.cursor ?? null };
  }

  async count(caller: Caller, query: CollectionQuery): Promise<number> {
    return this.#pieces.lists.count(caller, await this.#withRepository(caller, query));
  }

  async update(caller: Caller, repositoryId: string, collectionId: string, patch: CollectionPatch, ifMatch?: string): Promise<CollectionChange> {
    const opened = await this.#pieces.collections.update(caller, repositoryId, collectionId, patch, recordEtag(ifMatch));
    const stats = await this.#stats(caller, opened);
    const stale = patch.chunking_strategy !== undefined && (stats?.record.document_count ?? 0) > 0;
    const warnings = stale
      ? [`The ${stats?.record.document_count} documents that are here keep the passages they have. Re-index the collection to cut them in the new way.`]
      : [];
    return { ...collectionView(opened, stats), warnings };
  }

  async archive(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    return this.#view(caller, await this.#pieces.archiving.archive(caller, { repositoryId, collectionId, ifMatch: recordEtag(ifMatch) }));
  }

  async unarchive(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    return this.#view(caller, await this.#pieces.archiving.unarchive(caller, { repositoryId, collectionId, ifMatch: recordEtag(ifMatch) }));
  }

  async #view(caller: Caller, opened: OpenCollection): Promise<CollectionView> {
    return collectionView(opened, await this.#stats(caller, opened));
  }

  async #stats(caller: Caller, { collection }: OpenCollection): Promise<Stored<StatsRecord> | undefined> {
    return new Shelf(this.#pieces.parts.items, caller.scope, collection).stats();
  }

  /** Whose id the list's query has; one that the caller may not see is not there. */
  async #withRepository(caller: Caller, query: CollectionQuery): Promise<CollectionQuery> {
    if (query.repositoryId === undefined) return query;
    requireCaller(caller);
    if (query.repositoryId === personalAlias) return { ...query, repositoryId: personalRepositoryId(caller.userId) };
    const { record } = await this.#pieces.repositories.get(caller, query.repositoryId);
    return { ...query, repositoryId: record.repository_id };
  }
}
