/** Collections: making, reading, changing, archiving. Listing is in list-collections.ts, deleting in delete-collection.ts. */
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
import { checkFields, type CollectionFields } from "../records/collection-fields.ts";
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

export interface NewCollection extends CollectionFields {
  readonly collection_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  /** Made together with the collection, all or none. */
  readonly pipelines?: readonly NewPipeline[] | undefined;
}

export interface CollectionPatch extends CollectionFields {
  readonly collection_id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  readonly created_by?: string | undefined;
  readonly created_at?: string | undefined;
}

export interface OpenOptions {
  readonly needed?: Level;
  readonly action?: string;
  /** Also one that is deleted. */
  readonly deleted?: boolean;
  /** What only takes away goes on while the repository is being deleted. */
  readonly ending?: boolean;
  /** With `deleted`: which of the lives that had the id. */
  readonly incarnation?: string | undefined;
}

interface NewIncarnation {
  /** The deleted life that has the id. */
  readonly former: Stored<CollectionRecord> | undefined;
  /** Somebody gave the name: then it is that one or none. */
  readonly isNamed: boolean;
}

const changeable = [
  "name",
  "description",
  "chunking_strategy",
  "allow_chunking_override",
  "graph",
  "metadata",
  "allowed_groups",
  "private",
  "expires_after_days",
] as const;
/** A change may name them as they are: sending back a whole record with one field changed is fine. */
const fixed = ["collection_id", "repository_id", "embedding_model", "created_by", "created_at"] as const;

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

  /** `complete` may add to the record before it is stored, and throws what forbids it. */
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
      throw new PinakesError("FORBIDDEN", `Only admins make collections in repository "${repository.repository_id}".`);
    const fresh = this.#newRecord(caller, repository, input);
    const record = await complete({
      repository,
      collection: fresh,
      decision: decideCollection(caller, repository, fresh),
    });
    await this.#tags.add(scope, record);
    for (let former: Stored<CollectionRecord> | undefined; ;) {
      try {
        const { record: made, etag } = await this.begin(scope, repository, record, { former, isNamed: hasName(input) });
        return { repository, collection: made, etag, decision: decideCollection(caller, repository, made) };
      } catch (error) {
        const again = await this.#deletedFormer(error, caller, record, former);
        if (again === undefined) throw await this.#createError(error, caller, record);
        former = again.former;
      }
    }
  }

  /** Whether the id is only held by a life that is deleted, or changed hands meanwhile: then it is tried again. */
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

  /** Not visible: NOT_FOUND. Deleted: the same, unless `deleted` asks for it. */
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
    // Looking makes nothing: who has no repository of their own has no collection in it.
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

  /** The life that is named; else the one that has the id, else the one that had it last. */
  async #deleted(
    scope: Caller["scope"],
    repository_id: string,
    collection_id: string,
    current: Stored<CollectionRecord> | undefined,
    incarnation: string | undefined,
  ): Promise<Stored<CollectionRecord> | undefined> {
    if (incarnation !== undefined && current?.record.incarnation !== incarnation)
      return this.#catalog.life(scope, { repository_id, collection_id, incarnation });
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

  /** @param unnamed the name of one that is to have none of its own any more */
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
          "allowed_groups: who may use a collection is decided by an admin or its creator.",
        );
      if (collection.is_default && patch.name !== undefined)
        throw invalid("name: the default collection cannot be renamed.");
      if (collection.is_default && patch.private === true)
        throw invalid("private: the default collection is never private.");
      const checked = checkFields(patch, repository, this.#deps.quotas, [collection.collection_id, collection.name]);
      checkChatModel(checked.graph, this.#deps.chat);
      // The name that it had before anybody gave it one.
      return patch.name === null ? { ...checked, name: unnamed(collection) } : checked;
    });
  }

  /** Read, change, write back; again when somebody else was faster. */
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
        // Rows of tags that somebody else took away meanwhile: with them went the etag.
        const outrun =
          error.code === "PRECONDITION_FAILED" || (error.code === "NOT_FOUND" && error.context.batch?.index !== 0);
        if (!outrun || (ifMatch !== undefined && error.code === "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  /** The record, with the rows of tags that it loses; where those are many, in several batches, each of which changes the etag. */
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

  /** Writes a new life. Where nobody named it and the id is the name of another, it has the id and a mark as its name: see markedName. */
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
        this.newLife(repository, record, former),
      );
      return { record, etag: results[1]?.etag as string };
    } catch (error) {
      if (!(error instanceof NameTaken) || isNamed) throw error;
      return this.begin(scope, repository, named({ ...record, name: markedName(record) }), { former, isNamed: true });
    }
  }

  /** Makes it, in this order: the repository takes it, the record, the count; then the deleted life that has the id, where there is one. */
  newLife(
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
      // The life that has the id is deleted: it is kept beside the new one, until it is restored or its time has come.
      ...(former === undefined
        ? []
        : [{ op: "create", document: collectionDocument({ ...former.record, displaced: true }) } as const]),
    ];
  }

  /** One more live collection, while the limit lasts. */
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
      throw invalid(`embedding_model: ${show(embedding_model)} is not configured; there are ${known}.`);
    }
    if (!hasName(input) && input.collection_id === undefined) throw invalid("name: is missing.");
    const collectionId = input.collection_id === undefined ? undefined : checkId(input.collection_id, "collection_id");
    const fields = checkFields(input, repository, this.#deps.quotas, [collectionId]);
    checkChatModel(fields.graph, this.#deps.chat);
    return newCollection({
      repository,
      caller: caller.userId,
      incarnation: this.#deps.newId(),
      now: isoTime(this.#deps.clock.now()),
      ...(collectionId === undefined ? {} : { collectionId }),
      fields: { ...(repository.owner === null ? {} : { private: true }), ...fields, embedding_model },
    });
  }

  /** Which of the batch's conditions failed, in words. */
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
        `There are ${max} collections here already, which is the most. Delete one first.`,
        { cause: error },
      );
    }
    if (error.code !== "CONFLICT" || error instanceof NameTaken) return error;
    const [parent, same] = await this.#catalog.both(caller.scope, record.repository_id, record.collection_id);
    if (parent !== undefined && same !== undefined && isLive(same.record))
      return new PinakesError(
        "CONFLICT",
        `A collection "${record.collection_id}" exists in ${repositoryWords(record.repository_id)}.`,
        { cause: error },
      );
    return new PinakesError(
      "CONFLICT",
      `Collection "${record.collection_id}" is being made or deleted by somebody else. Try again.`,
      { cause: error },
    );
  }
}

/** By whoever makes it; else the name follows from the id. */
function hasName({ name }: Pick<CollectionFields, "name">): boolean {
  return name !== undefined && name !== null;
}

/** Only who could restore it is told that it can be. */
function deletedNow({ status, purge_at }: CollectionRecord, what: string, level: Level): PinakesError {
  if (level !== "ADMIN" || status !== "DELETED") return notFound(what);
  return new PinakesError("NOT_FOUND", `There is no ${what}: it was deleted, and can be restored until ${purge_at}.`);
}

/** Fixed fields that are named with the value they have are no change. */
function withoutSame(input: CollectionPatch, collection: CollectionRecord): CollectionPatch {
  const same = (field: (typeof fixed)[number]) => input[field] !== undefined && input[field] === collection[field];
  return Object.fromEntries(
    Object.entries(input).filter(([field]) => !fixed.some((name) => name === field && same(name))),
  );
}
