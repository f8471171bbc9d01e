/** Repositories, the top of the tree. A repository and its default collection are created in one batch. */
import type { Caller } from "../../domain/caller.ts";
import { requireCaller } from "../../domain/caller.ts";
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Operation } from "../../ports/item-store.ts";
import { readChunkingStrategy } from "../chunking/index.ts";
import { checkChatModel, readGraphSettings, type GraphSettings } from "../extraction/index.ts";
import { knowledgeLimits } from "../limits.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { decideRepository, notFound, requireLevel, type Level } from "../access/access.ts";
import { checkPatchFields } from "../records/check-fields.ts";
import { newCollection } from "../records/new-collection.ts";
import { isPersonalId, personalAlias, personalRepositoryId } from "../records/ids.ts";
import {
  collectionDocument,
  countDocument,
  repositoryDocument,
  type CatalogRecords,
  type Stored,
} from "../records/catalog-records.ts";
import { checkMergedTags, checkMetadata, noMetadata } from "../records/metadata.ts";
import { checkAskedKey, checkDescription, checkGroups, checkId, checkName, nameKey } from "../records/names.ts";
import { collectionsContainer, itemIds, type CollectionRecord, type RepositoryRecord } from "../records/records.ts";
import { isoTime, laterThan } from "../records/times.ts";
import { everyItem } from "../../containers/every-item.ts";
import { pagesOf } from "../../runtime/pages.ts";

export interface NewRepository {
  readonly repository_id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly embedding_model?: string | undefined;
  readonly allowed_groups?: readonly string[] | null | undefined;
  readonly allow_user_collections?: boolean | undefined;
  readonly auto_create?: boolean | undefined;
  readonly create_on_query?: boolean | undefined;
  readonly chunking_strategy?: unknown;
  readonly graph?: unknown;
  readonly metadata?: unknown;
}

export type RepositoryPatch = Omit<NewRepository, "repository_id" | "embedding_model">;

const changeable = [
  "name",
  "description",
  "allowed_groups",
  "allow_user_collections",
  "auto_create",
  "create_on_query",
  "chunking_strategy",
  "graph",
  "metadata",
] as const;
const fixed = ["repository_id", "embedding_model", "created_by", "created_at"] as const;

export class Repositories {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords) {
    this.#deps = deps;
    this.#catalog = catalog;
  }

  /** Admins only; `allow_user_collections` controls who may create collections in it. */
  async create(caller: Caller, input: NewRepository): Promise<Stored<RepositoryRecord>> {
    const scope = requireCaller(caller);
    if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Creating a repository needs the role admin.");
    const repository_id =
      input.repository_id === undefined ? this.#deps.newId() : checkId(input.repository_id, "repository_id");
    if (repository_id === personalAlias || isPersonalId(repository_id))
      throw invalid(`repository_id: ${show(repository_id)} is reserved for personal repositories; choose another id.`);
    const record = this.#record(caller, { ...input, repository_id }, null);
    await this.#checkModel(record.embedding_model);
    return this.#store(scope, record, true);
  }

  /** The caller's personal repository, created on first use. */
  async personal(caller: Caller): Promise<Stored<RepositoryRecord>> {
    const scope = requireCaller(caller);
    const repository_id = personalRepositoryId(caller.userId);
    const known = await this.#catalog.repository(scope, repository_id);
    if (known !== undefined) return known;
    const record = this.#record(caller, { repository_id, name: "Personal" }, caller.userId);
    try {
      return await this.#store(scope, record, false);
    } catch (error) {
      // Created by a concurrent request of the same user.
      const created = await this.#catalog.repository(scope, repository_id);
      if (created === undefined) throw error;
      return created;
    }
  }

  async get(
    caller: Caller,
    repositoryId: string,
    needed: Level = "READ",
    action = "Reading",
  ): Promise<Stored<RepositoryRecord>> {
    const scope = requireCaller(caller);
    if (repositoryId === personalAlias) return this.personal(caller);
    checkAskedKey(repositoryId, "repository_id");
    const found = await this.#catalog.repository(scope, repositoryId);
    const what = `repository "${repositoryId}"`;
    if (found === undefined) throw notFound(what);
    requireLevel(decideRepository(caller, found.record), needed, what, action);
    return found;
  }

  /** Those the caller may see, newest first. */
  async list(
    caller: Caller,
    options: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: readonly Stored<RepositoryRecord>[]; cursor?: string }> {
    const scope = requireCaller(caller);
    const items: Stored<RepositoryRecord>[] = [];
    let { cursor } = options;
    do {
      const page = await this.#deps.items.query(scope, collectionsContainer.name, {
        index: "allByCreated",
        equals: { kind: "repository" },
        order: "desc",
        limit: options.limit - items.length,
        cursor,
      });
      for (const { document, etag } of page.items) {
        const record = document as unknown as RepositoryRecord;
        if (decideRepository(caller, record).level !== null) items.push({ record, etag });
      }
      cursor = page.cursor;
    } while (cursor !== undefined && items.length < options.limit);
    return { items, ...(cursor === undefined ? {} : { cursor }) };
  }

  /** Those that the caller may see. Reads them all, since no index knows visibility. */
  async count(caller: Caller): Promise<number> {
    let sum = 0;
    for await (const page of pagesOf((cursor) => this.list(caller, { limit: knowledgeLimits.pageItemsMax, cursor }))) {
      sum += page.items.length;
    }
    return sum;
  }

  /** Only admins may change a repository, including who may use it. */
  async update(
    caller: Caller,
    repositoryId: string,
    input: RepositoryPatch,
    ifMatch?: string,
  ): Promise<Stored<RepositoryRecord>> {
    const scope = requireCaller(caller);
    const patch = checkPatchFields(input, changeable, fixed);
    for (;;) {
      const { record, etag } = await this.get(caller, repositoryId, "ADMIN", "Changing");
      const next = this.#changed(record, patch);
      if (patch.metadata !== undefined) await this.#checkTags(scope, next);
      try {
        const { results } = await this.#catalog.batch(scope, record.repository_id, [
          { op: "replace", document: repositoryDocument(next), ifMatch: ifMatch ?? etag },
        ]);
        return { record: next, etag: results[0]?.etag as string };
      } catch (error) {
        if (ifMatch !== undefined || !hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  /** A collection's tags together with those of its repository must stay within the limit. */
  async #checkTags(scope: Caller["scope"], { repository_id, metadata }: RepositoryRecord): Promise<void> {
    for await (const { document } of everyItem(this.#deps.items, scope, collectionsContainer.name, {
      equals: { repository_id },
      range: { prefix: itemIds.collection("") },
      limit: 200,
    })) {
      const collection = document as unknown as CollectionRecord;
      checkMergedTags(metadata, collection.metadata, `collection "${collection.name}"`);
    }
  }

  #changed(record: RepositoryRecord, patch: RepositoryPatch): RepositoryRecord {
    const fields = this.#fields(patch);
    const next = { ...record, ...fields, updated_at: laterThan(record.updated_at, this.#deps.clock.now()) };
    return { ...next, sort_name: nameKey(next.name), search_text: searchText(next) };
  }

  #fields(input: RepositoryPatch): Partial<RepositoryRecord> {
    const {
      name,
      description,
      allowed_groups,
      allow_user_collections,
      auto_create,
      create_on_query,
      chunking_strategy,
      graph,
      metadata,
    } = input;
    if (allow_user_collections !== undefined && typeof allow_user_collections !== "boolean")
      throw invalid("allow_user_collections: must be true or false.");
    if (auto_create !== undefined && typeof auto_create !== "boolean")
      throw invalid("auto_create: must be true or false.");
    if (create_on_query !== undefined && typeof create_on_query !== "boolean")
      throw invalid("create_on_query: must be true or false.");
    return {
      ...(name === undefined ? {} : { name: checkName(name) }),
      ...(description === undefined
        ? {}
        : { description: checkDescription(description, this.#deps.quotas.descriptionCharsMax) }),
      ...(allowed_groups === undefined ? {} : { allowed_groups: checkGroups(allowed_groups) }),
      ...(allow_user_collections === undefined ? {} : { allow_user_collections }),
      ...(auto_create === undefined ? {} : { auto_create }),
      ...(create_on_query === undefined ? {} : { create_on_query }),
      ...(chunking_strategy === undefined ? {} : { chunking_strategy: strategyOrNull(chunking_strategy) }),
      ...(graph === undefined ? {} : { graph: graphOrNull(graph, this.#deps.chat) }),
      ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata) }),
    };
  }

  #record(
    caller: Caller,
    input: NewRepository & { readonly repository_id: string },
    owner: string | null,
  ): RepositoryRecord {
    const now = isoTime(this.#deps.clock.now());
    const record = {
      kind: "repository" as const,
      repository_id: input.repository_id,
      name: input.repository_id,
      sort_name: "",
      search_text: "",
      description: "",
      embedding_model: input.embedding_model ?? this.#deps.embedders.defaultModel,
      allowed_groups: null,
      allow_user_collections: true,
      auto_create: false,
      create_on_query: false,
      chunking_strategy: null as ChunkingStrategy | null,
      metadata: noMetadata,
      owner,
      status: "ACTIVE" as const,
      created_by: caller.userId,
      created_at: now,
      updated_at: now,
      ...this.#fields(input),
    };
    return { ...record, sort_name: nameKey(record.name), search_text: searchText(record) };
  }

  async #checkModel(model: string): Promise<void> {
    if (this.#deps.embedders.models.some(({ id }) => id === model)) return;
    const known = this.#deps.embedders.models.map(({ id }) => id).join(", ");
    throw invalid(`embedding_model: ${show(model)} is not configured; configured are ${known}.`);
  }

  async #store(
    scope: Caller["scope"],
    record: RepositoryRecord,
    withDefault: boolean,
  ): Promise<Stored<RepositoryRecord>> {
    const operations: Operation[] = [
      { op: "create", document: repositoryDocument(record) },
      { op: "create", document: countDocument(record.repository_id, withDefault ? 1 : 0) },
    ];
    if (withDefault)
      operations.push({
        op: "create",
        document: collectionDocument(defaultCollection(record, this.#deps.newId())),
      });
    try {
      const { results } = await this.#catalog.batch(scope, record.repository_id, operations);
      return { record, etag: results[0]?.etag as string };
    } catch (error) {
      if (!hasCode(error, "CONFLICT")) throw error;
      throw new PinakesError(
        "CONFLICT",
        `A repository "${record.repository_id}" already exists. Use another id, or PATCH the existing one.`,
        { cause: error, reason: "repository_exists" },
      );
    }
  }
}

function defaultCollection(repository: RepositoryRecord, incarnation: string): CollectionRecord {
  return newCollection({
    repository,
    caller: repository.created_by,
    incarnation,
    now: repository.created_at,
    isDefault: true,
  });
}

function graphOrNull(input: unknown, chat: KnowledgeDependencies["chat"]): GraphSettings | null {
  const graph = input === null ? null : readGraphSettings(input);
  checkChatModel(graph, chat);
  return graph;
}

function strategyOrNull(input: unknown): ChunkingStrategy | null {
  return input === null ? null : readChunkingStrategy(input, "chunking_strategy");
}

export function searchText({ name, description }: { readonly name: string; readonly description: string }): string {
  return `${name}\n${description}`.normalize("NFC").toLowerCase();
}
