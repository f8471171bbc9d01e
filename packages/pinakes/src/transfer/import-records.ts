/**
 * Repositories, collections and catalogs of an import: created with the ids and times of their items, in the same batches as new ones, so
 * that counters, unique names and limits hold. The item itself is stored in the record (give-back.ts).
 */
import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../domain/caller.ts";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { emptyStats, CollectionPartition } from "../knowledge/records/collection-partition.ts";
import type { KnowledgeWork } from "../knowledge/records/work-registry.ts";
import type { Collections } from "../knowledge/collections/collections.ts";
import { defaultCollectionId, isPersonalId, personalAlias, personalRepositoryId } from "../knowledge/records/ids.ts";
import { TagRows } from "../knowledge/records/tag-rows.ts";
import {
  collectionDocument,
  countDocument,
  repositoryDocument,
  type CatalogRecords,
  type Stored,
} from "../knowledge/records/catalog-records.ts";
import { noMetadata } from "../knowledge/records/metadata.ts";
import { checkId, nameKey } from "../knowledge/records/names.ts";
import { newCollection } from "../knowledge/records/new-collection.ts";
import { itemIds, type CollectionRecord, type RepositoryRecord } from "../knowledge/records/records.ts";
import { searchText } from "../knowledge/collections/repositories.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import { epochAttribute, keyPart, optionalText, text, userId } from "./attributes.ts";
import { exportedCatalog, itemToCatalog, modelOfCatalog } from "./catalog-items.ts";
import type { PlainItem } from "./dynamo-json.ts";
import { isImplied } from "./export.ts";
import { importedOf } from "./give-back.ts";
import {
  collectionKeys,
  exportedCollection,
  exportedRepository,
  itemToCollection,
  itemToRepository,
  modelOfItem,
} from "./lisa-items.ts";

export interface ImportTools {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly collections: Collections;
  readonly registry: KnowledgeWork;
  readonly caller: Caller;
  /** Maps models of the items to models here. */
  readonly models: Readonly<Record<string, string>>;
  readonly dryRun: boolean;
  /** Who imports, and when it started: replaces what items lack. */
  readonly stamp: { readonly by: string; readonly at: string; readonly mark?: string };
}

export interface Made {
  readonly outcome: "created" | "skipped";
  readonly warnings: readonly string[];
}

export interface OpenTarget {
  readonly repository: RepositoryRecord;
  readonly collection: CollectionRecord;
}

const skipped: Made = { outcome: "skipped", warnings: [] };

export class RecordImport {
  readonly #tools: ImportTools;
  /** What a dry run would have created, so that dependent items find it. */
  readonly #planned = {
    repositories: new Map<string, RepositoryRecord>(),
    collections: new Map<string, CollectionRecord>(),
  };

  constructor(tools: ImportTools) {
    this.#tools = tools;
  }

  async store(plain: PlainItem): Promise<Made> {
    const { item } = plain;
    const repository_id = checkId(keyPart(text(item, "repositoryId"), "repositoryId"), "repositoryId");
    if (repository_id === personalAlias || isPersonalId(repository_id))
      throw invalid(`repositoryId: ${show(repository_id)} is reserved for personal repositories.`);
    const fields = itemToRepository(item, this.#tools.stamp);
    const known = await this.repository(repository_id);
    if (known !== undefined) return this.#same(item, known, exportedRepository(known), `repository "${repository_id}"`);
    const named = modelOfItem(item);
    const record = this.#repository({
      ...fields,
      repository_id,
      embedding_model: this.#model(named),
      owner: null,
      imported: kept(plain, this.#tools.stamp),
    });
    const collectionId = defaultCollectionId(named ?? record.embedding_model);
    await this.#put(record, this.#newDefault(record, collectionId));
    return { outcome: "created", warnings: [] };
  }

  async collection(plain: PlainItem): Promise<Made> {
    const { item } = plain;
    const { deps, stamp } = this.#tools;
    const keys = collectionKeys(item);
    const repository = await this.#shared(keys.repositoryId);
    const collection_id = this.collectionId(repository, keys.collectionId);
    const fields = itemToCollection(item, { newId: deps.newId, ...stamp });
    const known = await this.#collection(repository.repository_id, collection_id);
    const adopted = known !== undefined && isImplied(known.record) ? known : undefined;
    if (known !== undefined && adopted === undefined)
      return this.#same(item, known.record, exportedCollection(known.record), `collection "${collection_id}"`);
    if (fields.purge_at !== null && Date.parse(fields.purge_at) <= deps.clock.now())
      return {
        outcome: "skipped",
        warnings: [`Collection "${collection_id}" was deleted, and expired at ${fields.purge_at}.`],
      };
    if (adopted !== undefined && (fields.status !== "ACTIVE" || fields.private))
      throw invalid("The default collection can be neither private, archived nor deleted.");
    const record = newCollection({
      repository,
      caller: fields.created_by,
      incarnation: adopted?.record.incarnation ?? deps.newId(),
      now: fields.created_at,
      collectionId: collection_id,
      isDefault: adopted !== undefined,
      fields: {
        ...fields,
        embedding_model: this.#model(optionalText(item, "embeddingModel") ?? repository.embedding_model),
        imported: kept(plain, this.#tools.stamp),
      },
    });
    if (adopted === undefined) await this.#create(repository, record);
    else await this.#adopt(record, adopted.etag);
    return { outcome: "created", warnings: warningsOf(repository, record) };
  }

  async catalog(plain: PlainItem): Promise<Made> {
    const { item } = plain;
    const { deps } = this.#tools;
    const collection_id = checkId(keyPart(text(item, "catalog_id"), "catalog_id"), "catalog_id");
    const fields = itemToCatalog(item);
    const repository = await this.#personal(userId(item, "user_id"));
    const known = await this.#collection(repository.repository_id, collection_id);
    if (known !== undefined)
      return this.#same(
        item,
        known.record,
        await this.#asCatalog(repository, known.record),
        `catalog "${collection_id}"`,
      );
    const record = newCollection({
      repository,
      caller: fields.created_by,
      incarnation: deps.newId(),
      now: fields.created_at,
      collectionId: collection_id,
      fields: {
        ...fields,
        embedding_model: this.#model(modelOfCatalog(item) ?? repository.embedding_model),
        imported: kept(plain, this.#tools.stamp),
      },
    });
    await this.#create(repository, record, epochAttribute(item, "last_sync_at", "ms"));
    return { outcome: "created", warnings: [] };
  }

  async repository(repositoryId: string): Promise<RepositoryRecord | undefined> {
    return (
      this.#planned.repositories.get(repositoryId) ??
      (await this.#tools.catalog.repository(this.#tools.caller.scope, repositoryId))?.record
    );
  }

  /** The target of documents; NOT_FOUND names what is missing. Absent id: the repository's default collection. */
  async target(repositoryId: string, id: string | undefined): Promise<OpenTarget> {
    const repository = await this.repository(repositoryId);
    if (repository === undefined)
      throw new PinakesError("NOT_FOUND", `There is no repository "${repositoryId}"; import its item first.`);
    const collectionId = id === undefined ? defaultIdOf(repository) : this.collectionId(repository, id);
    const found = await this.#collection(repositoryId, collectionId);
    if (found === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `There is no collection "${collectionId}" in repository "${repositoryId}"; import its item first.`,
      );
    const { status } = found.record;
    if (status !== "ACTIVE" && status !== "ARCHIVED")
      throw new PinakesError("CONFLICT", `Collection "${collectionId}" is deleted; restore it first.`);
    return { repository, collection: found.record };
  }

  /** The name of the embedding model means the default collection, even if it is not a valid id. */
  collectionId(repository: RepositoryRecord, id: string): string {
    return id === importedModel(repository) || id === repository.embedding_model
      ? defaultIdOf(repository)
      : checkId(id, "collectionId");
  }

  async #collection(repositoryId: string, collectionId: string): Promise<Stored<CollectionRecord> | undefined> {
    const planned = this.#planned.collections.get(`${repositoryId}#${collectionId}`);
    if (planned !== undefined) return { record: planned, etag: "" };
    return this.#tools.catalog.collection(this.#tools.caller.scope, repositoryId, collectionId);
  }

  async #shared(repositoryId: string): Promise<RepositoryRecord> {
    const repository = await this.repository(checkId(repositoryId, "repositoryId"));
    if (repository === undefined)
      throw new PinakesError("NOT_FOUND", `There is no repository "${repositoryId}"; import its item first.`);
    if (repository.owner !== null)
      throw invalid(`repositoryId: ${show(repositoryId)} is a personal repository, which has catalogs.`);
    return repository;
  }

  /** A personal repository has no item: it is created with its first catalog. */
  async #personal(owner: string): Promise<RepositoryRecord> {
    const repository_id = personalRepositoryId(owner);
    const known = await this.repository(repository_id);
    if (known !== undefined) return known;
    const now = this.#tools.stamp.at;
    const { defaultModel } = this.#tools.deps.embedders;
    const record = this.#repository({
      repository_id,
      name: "Personal",
      embedding_model: defaultModel,
      owner,
      created_by: owner,
      created_at: now,
      updated_at: now,
    });
    await this.#put(record);
    return record;
  }

  #repository(
    fields: Partial<RepositoryRecord> &
      Pick<
        RepositoryRecord,
        "repository_id" | "name" | "embedding_model" | "owner" | "created_by" | "created_at" | "updated_at"
      >,
  ): RepositoryRecord {
    const record: RepositoryRecord = {
      kind: "repository",
      sort_name: nameKey(fields.name),
      search_text: "",
      description: "",
      allowed_groups: null,
      allow_user_collections: true,
      chunking_strategy: null,
      metadata: noMetadata,
      status: "ACTIVE",
      ...fields,
    };
    return { ...record, search_text: searchText(record) };
  }

  #newDefault(repository: RepositoryRecord, collectionId: string): CollectionRecord {
    const { created_by: caller, created_at: now } = repository;
    return newCollection({
      repository,
      caller,
      incarnation: this.#tools.deps.newId(),
      now,
      isDefault: true,
      collectionId,
    });
  }

  async #put(record: RepositoryRecord, standard?: CollectionRecord): Promise<void> {
    if (this.#tools.dryRun) {
      this.#planned.repositories.set(record.repository_id, record);
      if (standard !== undefined) this.#plan(standard);
      return;
    }
    await this.#tools.catalog.batch(this.#tools.caller.scope, record.repository_id, [
      { op: "create", document: repositoryDocument(record) },
      { op: "create", document: countDocument(record.repository_id, standard === undefined ? 0 : 1) },
      ...(standard === undefined ? [] : [{ op: "create", document: collectionDocument(standard) } as const]),
    ]);
  }

  /** First what is below the record: it has no effect until the record exists. */
  async #create(repository: RepositoryRecord, record: CollectionRecord, syncedAt?: string): Promise<void> {
    const { deps, collections, registry, catalog, caller, dryRun } = this.#tools;
    if (dryRun) return this.#plan(record);
    const partition = new CollectionPartition(deps.items, caller.scope, record);
    const gone = record.status === "DELETED";
    if (gone || syncedAt !== undefined) await partition.ensure();
    if (syncedAt !== undefined) await partition.write([partition.move({ syncedAt })]);
    if (gone) {
      await partition.setStatus("DELETED");
      const { repository_id, collection_id, incarnation } = record;
      await registry.mark(
        { kind: "purge", tenant: caller.scope.tenant, repository_id, collection_id, incarnation },
        Date.parse(record.purge_at as string),
      );
    }
    await new TagRows(deps.items).add(caller.scope, record);
    try {
      await catalog.batch(caller.scope, repository.repository_id, [
        { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
        { op: "create", document: collectionDocument(record) },
        ...(gone ? [] : [collections.countUp(repository)]),
      ]);
    } catch (error) {
      throw createError(error, record);
    }
  }

  /** The default collection that was created with its repository takes the item's fields. */
  async #adopt(record: CollectionRecord, ifMatch: string): Promise<void> {
    const { deps, catalog, caller, dryRun } = this.#tools;
    if (dryRun) return this.#plan(record);
    await new TagRows(deps.items).add(caller.scope, record);
    await catalog.batch(caller.scope, record.repository_id, [
      { op: "replace", document: collectionDocument(record), ifMatch },
    ]);
  }

  #plan(record: CollectionRecord): void {
    this.#planned.collections.set(`${record.repository_id}#${record.collection_id}`, record);
  }

  async #asCatalog(repository: RepositoryRecord, record: CollectionRecord): Promise<JsonObject> {
    const stats = await new CollectionPartition(this.#tools.deps.items, this.#tools.caller.scope, record).stats();
    return exportedCatalog(record, { owner: repository.owner as string, repository }, stats?.record ?? emptyStats);
  }

  /** Accepts the original item, or the one the record would be exported as. Other content is never overwritten. */
  #same(item: JsonObject, record: { readonly imported?: JsonObject }, exported: JsonObject, what: string): Made {
    if (isDeepStrictEqual(importedOf(record)?.item, item) || isDeepStrictEqual(exported, item)) return skipped;
    throw new PinakesError("CONFLICT", `A ${what} exists with other content. Delete it first, or leave the item out.`);
  }

  #model(named: string | undefined): string {
    const { embedders } = this.#tools.deps;
    const model = named === undefined ? embedders.defaultModel : (this.#tools.models[named] ?? named);
    if (embedders.models.some(({ id }) => id === model)) return model;
    const known = embedders.models.map(({ id }) => id).join(", ");
    throw invalid(
      `The embedding model ${show(model)} is not configured here; configured are ${known}. Configure it, or map it to another one (models).`,
    );
  }
}

/** The whole item, and what it does not contain itself. */
export function kept({ item, types }: PlainItem, stamp: ImportTools["stamp"]): JsonObject {
  return { item, ...(Object.keys(types).length === 0 ? {} : { types: { ...types } }), ...stamp };
}

function importedModel(repository: RepositoryRecord): string | undefined {
  const imported = importedOf(repository);
  return imported === undefined ? undefined : modelOfItem(imported.item);
}

function defaultIdOf(repository: RepositoryRecord): string {
  return defaultCollectionId(importedModel(repository) ?? repository.embedding_model);
}

function warningsOf(
  { allowed_groups }: RepositoryRecord,
  { collection_id, pipelines, ...collection }: CollectionRecord,
): readonly string[] {
  const outside = (collection.allowed_groups ?? []).filter(
    (group) => allowed_groups !== null && !allowed_groups.includes(group),
  );
  return [
    ...(outside.length === 0
      ? []
      : [`allowedGroups: the repository excludes ${outside.join(", ")}, so collection "${collection_id}" does too.`]),
    ...(pipelines.length === 0
      ? []
      : [`pipelines: the ${pipelines.length} of collection "${collection_id}" are stored but not started.`]),
  ];
}

function createError(error: unknown, { name, collection_id, repository_id }: CollectionRecord): unknown {
  if (!PinakesError.isInstance(error)) return error;
  const index = error.context.batch?.index;
  const { detail, code } =
    index === 0
      ? { code: "CONFLICT" as const, detail: `Repository "${repository_id}" is being deleted.` }
      : index === 1 && error.code === "CONFLICT"
        ? {
            code: "CONFLICT" as const,
            detail: `Another collection of repository "${repository_id}" is named "${name}" (names are case-insensitive); rename "${collection_id}".`,
          }
        : index === 2
          ? {
              code: "LIMIT_EXCEEDED" as const,
              detail: `Repository "${repository_id}" has reached its maximum number of collections.`,
            }
          : { code: error.code, detail: error.detail };
  return new PinakesError(code, detail, { cause: error });
}
