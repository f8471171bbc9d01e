/** Collections as callers see them: each with its counters. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import type { Pipelines } from "../pipelines/index.ts";
import type { ListPage, Totalled } from "../paging.ts";
import type { KnowledgeParts } from "../parts.ts";
import { shownCollection } from "../shown-collection.ts";
import { collectionView, recordEtag, type CollectionChange, type CollectionView, type Warned } from "../views.ts";
import { conditionOn } from "./conditions.ts";
import { chunkingWarnings } from "./chunking-warnings.ts";
import { effectiveChunking } from "./collection-fields.ts";
import type { CollectionArchiving } from "./archive-collection.ts";
import type { CollectionPatch, Collections, NewCollection, OpenCollection, OpenOptions } from "./collections.ts";
import type { CollectionLists } from "./gather-collections.ts";
import { personalAlias, personalRepositoryId } from "./ids.ts";
import type { CollectionQuery } from "./list-collections.ts";
import type { Repositories } from "./repositories.ts";

/** Also one in the trash, and which of the lives that had the id. */
export type CollectionChoice = Pick<OpenOptions, "deleted" | "incarnation">;

/** What makes the pipelines that a new collection names, together with it. */
type NewPipelines = Pick<Pipelines, "createWith">;

interface CollectionDeskPieces {
  readonly parts: Pick<KnowledgeParts, "items" | "vectors" | "embedders">;
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

  async create(
    caller: Caller,
    repositoryId: string,
    input: NewCollection,
    pipelines: NewPipelines,
  ): Promise<Warned<CollectionView>> {
    const opened = await pipelines.createWith(caller, input.pipelines ?? [], (complete) =>
      this.#pieces.collections.create(caller, repositoryId, input, complete),
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
    return this.#view(caller, await this.#pieces.collections.open(caller, repositoryId, collectionId, options));
  }

  async list(
    caller: Caller,
    { include_total, ...query }: CollectionQuery & Totalled,
  ): Promise<ListPage<CollectionView>> {
    const asked = await this.#withRepository(caller, query);
    const page = await this.#pieces.lists.list(caller, asked);
    const items = await Promise.all(page.items.map((opened) => this.#view(caller, opened)));
    const total = include_total === true ? { total: await this.#pieces.lists.count(caller, asked) } : {};
    return { items, next_cursor: page.cursor ?? null, ...total };
  }

  async count(caller: Caller, query: CollectionQuery): Promise<number> {
    return this.#pieces.lists.count(caller, await this.#withRepository(caller, query));
  }

  async update(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    patch: CollectionPatch,
    ifMatch?: string,
  ): Promise<CollectionChange> {
    const opened = await conditionOn(
      `Collection "${collectionId}"`,
      this.#pieces.collections.update(caller, repositoryId, collectionId, patch, recordEtag(ifMatch)),
    );
    const shown = await this.#view(caller, opened);
    const stale = patch.chunking_strategy !== undefined && shown.document_count > 0;
    const warnings = stale
      ? [
          `The ${shown.document_count} documents that are here keep the passages they have. Re-index the collection to cut them in the new way.`,
        ]
      : [];
    const cut = patch.chunking_strategy === undefined ? [] : await this.#warnings(opened);
    return { ...shown, warnings: [...warnings, ...cut] };
  }

  /** Only of what the collection itself says: defaults are cut down without a word. */
  async #warnings({ repository, collection }: OpenCollection): Promise<readonly string[]> {
    if (collection.chunking_strategy === null) return [];
    return chunkingWarnings(this.#pieces.parts, effectiveChunking(repository, collection), collection.embedding_model);
  }

  async archive(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    const archived = this.#pieces.archiving.archive(caller, {
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
    const unarchived = this.#pieces.archiving.unarchive(caller, {
      repositoryId,
      collectionId,
      ifMatch: recordEtag(ifMatch),
    });
    return this.#view(caller, await conditionOn(`Collection "${collectionId}"`, unarchived));
  }

  async #view(caller: Caller, opened: OpenCollection): Promise<CollectionView> {
    return shownCollection(this.#pieces.parts, caller.scope, opened);
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
