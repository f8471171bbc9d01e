/** Collections: create, read, change, archive. Lists are in list-collections.ts, deletes in delete-collection.ts. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import { checkChatModel } from "../extraction/index.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { NewPipeline } from "../records/new-pipeline.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { decideCollection, notFound, requireLevel, type Level } from "../access/access.ts";
import { checkPatchFields } from "../records/check-fields.ts";
import { checkFields, requireRulesWithin, type CollectionFields } from "../records/collection-fields.ts";
import { requireNotHeld } from "../records/hold.ts";
import { personalAlias, personalRepositoryId } from "../records/ids.ts";
import { collectionDocument, isLive, type CatalogRecords, type Stored } from "../records/catalog-records.ts";
import { NameTaken, repositoryWords } from "../records/name-taken.ts";
import { checkAskedId, checkAskedKey, checkId } from "../records/names.ts";
import { markedName, named, newCollection } from "../records/new-collection.ts";
import { itemIds, type CollectionRecord, type RepositoryRecord } from "../records/records.ts";
import type { Repositories } from "./repositories.ts";
import { TagRows } from "../records/tag-rows.ts";
import { requireTaking } from "../records/taking.ts";
import { isoTime, laterThan } from "../records/times.ts";
import { type CollectionPatch, changeable, fixed, withoutSame } from "./collection-patch.ts";

export interface NewCollection extends CollectionFields {
  readonly collection_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  /** Created in the same batch as the collection. */
  readonly pipelines?: readonly NewPipeline[] | undefined;
}

export interface OpenOptions {
  readonly needed?: Level | undefined;
  readonly action?: string | undefined;
  /** Also finds a deleted collection. */
  readonly deleted?: boolean | undefined;
  /** Allowed while the repository is being deleted, for calls that only delete. */
  readonly ending?: boolean | undefined;
  /** With `deleted`: which incarnation of the id. */
  readonly incarnation?: string | undefined;
}

interface NewIncarnation {
  /** The deleted incarnation that still holds the id. */
  readonly former: Stored<CollectionRecord> | undefined;
  /** The caller chose the name; no other name may be used. */
  readonly isNamed: boolean;
}

export class Collections {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #repositories: Repositories;
  readonly #tags: TagRows;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords, repositories: Repositories) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#repositories = repositories;
    this.#tags = new TagRows(deps.items);
  }

  /** `complete` may add to the record before it is stored, or throw to refuse it. */
  async create(
    caller: Caller,
    repositoryId: string,
    input: NewCollection,
    complete: (opened: Omit<OpenCollection, "etag">) => Promise<CollectionRecord> = async ({ collection }) =>
      collection,
  ): Promise<OpenCollection> {
    const scope = requireCaller(caller);
    const { record: repository } = await this.#repositories.get(caller, repositoryId, "READ");
    if (repository.owner === null && caller.role === "user" && !repository.allow_user_collections)
      throw new PinakesError(
        "FORBIDDEN",
        `Only admins can create collections in repository "${repository.repository_id}".`,
      );
    const fresh = this.#newRecord(caller, repository, input);
    const record = await complete({
      repository,
      collection: fresh,
      decision: decideCollection(caller, repository, fresh),
    });
    await this.#tags.add(scope, record);
    for (let former: Stored<CollectionRecord> | undefined; ;) {
      try {
        const { record: created, etag } = await this.begin(scope, repository, record, {
          former,
          isNamed: hasName(input),
        });
        return { repository, collection: created, etag, decision: decideCollection(caller, repository, created) };
      } catch (error) {
        const again = await this.#deletedFormer(error, caller, record, former);
        if (again === undefined) throw await this.#createError(error, caller, record);
        former = again.former;
      }
    }
  }

  /** Whether a deleted incarnation still holds the id, or the id changed hands concurrently; then the create is retried. */
  async #deletedFormer(
    error: unknown,
    { scope }: Caller,
    { repository_id, collection_id }: CollectionRecord,
    former: Stored<CollectionRecord> | undefined,
  ): Promise<{ readonly former: Stored<CollectionRecord> | undefined } | undefined> {
    if (!PinakesError.isInstance(error) || error.context.batch?.index !== 1) return undefined;
    const now = await this.#catalog.collection(scope, repository_id, collection_id);
    if (now !== undefined && !isLive(now.record) && now.etag !== former?.etag) return { former: now };
    return former !== undefined && now === undefined ? { former: undefined } : undefined;
  }

  /** Not visible: NOT_FOUND. Deleted: the same, unless `deleted` is set. */
  async open(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: OpenOptions = {},
  ): Promise<OpenCollection> {
    const scope = requireCaller(caller);
    checkAskedKey(repositoryId, "repository_id");
    checkAskedId(collectionId, "collection_id");
    if (options.incarnation !== undefined) checkAskedId(options.incarnation, "incarnation");
    // Reads create nothing: a user without a personal repository has no collections in it.
    const repository = repositoryId === personalAlias ? personalRepositoryId(caller.userId) : repositoryId;
    const [parent, current] = await this.#catalog.both(scope, repository, collectionId);
    const found =
      options.deleted === true
        ? await this.#deleted(scope, repository, collectionId, current, options.incarnation)
        : current;
    const what = `collection "${collectionId}" in repository "${repositoryId}"`;
    if (parent === undefined || found === undefined) throw notFound(what);
    const decision = decideCollection(caller, parent.record, found.record);
    if (decision.level === null) throw notFound(what);
    if (!isLive(found.record) && options.deleted !== true) throw deletedNow(found.record, what, decision.level);
    requireLevel(decision, options.needed ?? "READ", what, options.action ?? "This");
    if (options.needed !== undefined && options.needed !== "READ") {
      if (options.ending !== true) requireTaking(parent.record);
      requireNotHeld(found.record);
    }
    return { repository: parent.record, collection: found.record, etag: found.etag, decision };
  }

  /** The named incarnation; else the one that holds the id, else the one that held it last. */
  async #deleted(
    scope: Caller["scope"],
    repository_id: string,
    collection_id: string,
    current: Stored<CollectionRecord> | undefined,
    incarnation: string | undefined,
  ): Promise<Stored<CollectionRecord> | undefined> {
    if (incarnation !== undefined && current?.record.incarnation !== incarnation)
      return this.#catalog.incarnation(scope, { repository_id, collection_id, incarnation });
    return current ?? (await this.#catalog.displaced(scope, repository_id, collection_id))[0];
  }

  async update(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: CollectionPatch,
    ifMatch?: string,
  ): Promise<OpenCollection> {
    const to = [caller, repositoryId, collectionId] as const;
    try {
      return await this.#update(...to, input, ifMatch, ({ collection_id }) => collection_id);
    } catch (error) {
      if (!(error instanceof NameTaken) || input.name !== null) throw error;
      return this.#update(...to, input, ifMatch, markedName);
    }
  }

  /** @param unnamed the name of a collection whose own name is removed */
  async #update(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: CollectionPatch,
    ifMatch: string | undefined,
    unnamed: (collection: CollectionRecord) => string,
  ): Promise<OpenCollection> {
    return this.change(caller, repositoryId, collectionId, "Changing", ifMatch, (collection, repository) => {
      const patch = checkPatchFields(withoutSame(input, collection), changeable, fixed);
      if (collection.status === "ARCHIVED") throw archived(collection);
      if (caller.role === "repository_admin" && patch.allowed_groups !== undefined)
        throw new PinakesError(
          "FORBIDDEN",
          "allowed_groups: only an admin or the creator decides who may use a collection.",
        );
      if (collection.is_default && patch.name !== undefined)
        throw invalid("name: the default collection cannot be renamed.");
      if (collection.is_default && patch.private === true)
        throw invalid("private: the default collection cannot be private.");
      const checked = checkFields(patch, repository, this.#deps.quotas, [collection.collection_id, collection.name]);
      checkChatModel(checked.graph, this.#deps.chat);
      if (checked.access_rules !== undefined) requireRulesWithin(repository, { ...collection, ...checked });
      // The name it had before it was given one.
      return patch.name === null ? { ...checked, name: unnamed(collection) } : checked;
    });
  }

  /** Read, change, write back; repeated after a conflict. */
  async change(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    action: string,
    ifMatch: string | undefined,
    change: (collection: CollectionRecord, repository: RepositoryRecord) => Partial<CollectionRecord>,
  ): Promise<OpenCollection> {
    for (;;) {
      const found = await this.open(caller, repositoryId, collectionId, { needed: "ADMIN", action });
      const { repository, collection } = found;
      const fields = change(collection, repository);
      const updated_at = laterThan(collection.updated_at, this.#deps.clock.now());
      const next = named({ ...collection, ...fields, updated_at });
      try {
        const etag = await this.#replace(caller, collection, next, ifMatch ?? found.etag);
        return { repository, collection: next, etag, decision: decideCollection(caller, repository, next) };
      } catch (error) {
        if (!PinakesError.isInstance(error)) throw error;
        // NOT_FOUND: another process deleted tag rows of this batch, and with them changed the etag.
        const outrun =
          error.code === "PRECONDITION_FAILED" || (error.code === "NOT_FOUND" && error.context.batch?.index !== 0);
        if (!outrun || (ifMatch !== undefined && error.code === "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  /** Replaces the record and deletes the rows of removed tags; many rows take several batches, each of which changes the etag. */
  async #replace(
    { scope }: Caller,
    before: CollectionRecord,
    next: CollectionRecord,
    ifMatch: string,
  ): Promise<string> {
    const [old, tags] = [before.metadata.tags, next.metadata.tags];
    const added = tags.filter((tag) => !old.includes(tag));
    await this.#tags.add(scope, next, added);
    const lost = old.filter((tag) => !tags.includes(tag));
    const [first = [], ...more] = await this.#tags.removing(scope, next, lost);
    let etag = ifMatch;
    for (const rows of [first, ...more]) {
      const { results } = await this.#catalog.batch(scope, next.repository_id, [
        { op: "replace", document: collectionDocument(next), ifMatch: etag },
        ...rows,
      ]);
      etag = results[0]?.etag as string;
    }
    return etag;
  }

  /**
   * Writes a new incarnation. If no name was given and the id is the name of another collection, the name gets a suffix: see markedName.
   */
  async begin(
    scope: Scope,
    repository: RepositoryRecord,
    record: CollectionRecord,
    { former, isNamed }: NewIncarnation,
  ): Promise<Stored<CollectionRecord>> {
    try {
      const { results } = await this.#catalog.batch(
        scope,
        repository.repository_id,
        this.newIncarnation(repository, record, former),
      );
      return { record, etag: results[1]?.etag as string };
    } catch (error) {
      if (!(error instanceof NameTaken) || isNamed) throw error;
      return this.begin(scope, repository, named({ ...record, name: markedName(record) }), { former, isNamed: true });
    }
  }

  /**
   * Operations that create a collection, in this order: the check that the repository is active, the record, the count; then the deleted
   * incarnation that held the id, if there is one.
   */
  newIncarnation(
    repository: RepositoryRecord,
    record: CollectionRecord,
    former: Stored<CollectionRecord> | undefined,
  ): readonly Operation[] {
    return [
      { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
      former === undefined
        ? { op: "create", document: collectionDocument(record) }
        : { op: "replace", document: collectionDocument(record), ifMatch: former.etag },
      this.countUp(repository),
      // The deleted incarnation that held the id is kept beside the new one, until it is restored or purged.
      ...(former === undefined
        ? []
        : [{ op: "create", document: collectionDocument({ ...former.record, displaced: true }) } as const]),
    ];
  }

  /** Counts one more live collection, up to the limit. */
  countUp(repository: RepositoryRecord): Operation {
    const max = this.#collectionsMax(repository);
    return {
      op: "patch",
      id: itemIds.count,
      patch: [{ op: "incr", path: "/collections", value: 1 }],
      where: { collections: { lt: max } },
    };
  }

  #collectionsMax({ owner }: RepositoryRecord): number {
    const { catalogsPerUserMax, collectionsPerRepositoryMax } = this.#deps.quotas;
    return owner === null ? collectionsPerRepositoryMax : catalogsPerUserMax;
  }

  #newRecord(caller: Caller, repository: RepositoryRecord, input: NewCollection): CollectionRecord {
    const { embedding_model = repository.embedding_model } = input;
    if (!this.#deps.embedders.models.some(({ id }) => id === embedding_model)) {
      const known = this.#deps.embedders.models.map(({ id }) => id).join(", ");
      throw invalid(`embedding_model: ${show(embedding_model)} is not configured; configured are ${known}.`);
    }
    if (!hasName(input) && input.collection_id === undefined) throw invalid("name: is missing.");
    const collectionId = input.collection_id === undefined ? undefined : checkId(input.collection_id, "collection_id");
    const fields = checkFields(input, repository, this.#deps.quotas, [collectionId]);
    checkChatModel(fields.graph, this.#deps.chat);
    const record = newCollection({
      repository,
      caller: caller.userId,
      incarnation: this.#deps.newId(),
      now: isoTime(this.#deps.clock.now()),
      collectionId,
      fields: { ...(repository.owner === null ? {} : { private: true }), ...fields, embedding_model },
    });
    requireRulesWithin(repository, record);
    return record;
  }

  /** Translates the failed condition of the batch. */
  async #createError(error: unknown, caller: Caller, record: CollectionRecord): Promise<unknown> {
    if (!PinakesError.isInstance(error)) return error;
    const index = error.context.batch?.index;
    if (index === 0)
      return new PinakesError("CONFLICT", `Repository "${record.repository_id}" is being deleted.`, { cause: error });
    if (index === 2) {
      const repository = (await this.#catalog.repository(caller.scope, record.repository_id))?.record;
      const max = repository === undefined ? 0 : this.#collectionsMax(repository);
      return new PinakesError(
        "LIMIT_EXCEEDED",
        `There are already ${max} collections here, the maximum. Delete one first.`,
        { cause: error },
      );
    }
    if (error.code !== "CONFLICT" || error instanceof NameTaken) return error;
    const [parent, same] = await this.#catalog.both(caller.scope, record.repository_id, record.collection_id);
    if (parent !== undefined && same !== undefined && isLive(same.record))
      return new PinakesError(
        "CONFLICT",
        `A collection "${record.collection_id}" already exists in ${repositoryWords(record.repository_id)}.`,
        { cause: error, reason: "collection_exists" },
      );
    return new PinakesError(
      "CONFLICT",
      `Collection "${record.collection_id}" is being created or deleted concurrently. Try again.`,
      { cause: error },
    );
  }
}

/** Whether the caller chose a name; otherwise it is derived from the id. */
function hasName({ name }: Pick<CollectionFields, "name">): boolean {
  return name !== undefined && name !== null;
}

/** Only callers who could restore it learn that it can be restored. */
function deletedNow({ status, purge_at }: CollectionRecord, what: string, level: Level): PinakesError {
  if (level !== "ADMIN" || status !== "DELETED") return notFound(what);
  return new PinakesError("NOT_FOUND", `There is no ${what}: it was deleted, and can be restored until ${purge_at}.`);
}
