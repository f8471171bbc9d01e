/**
 * Vector stores are collections: `vs_<collection id>` of the repository that the header OpenAI-Project names, or of the repository
 * `openai`. Properties without a collection field (names with arbitrary characters, metadata) are stored in its custom field `openai`.
 */
import type { Caller } from "../../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import type { CollectionView, Knowledge } from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { timeOrderedId } from "../../../runtime/time-ordered-id.ts";
import type { Metadata } from "./metadata.ts";

/** The repository of stores without a project. */
export const defaultProject = "openai";
const storePrefix = "vs_";
const nameCharsMax = 100;
const markChars = 8;
const triesMax = 5;
const dayMs = 86_400_000;
const pageItems = 100;

export interface Store {
  readonly repository: string;
  readonly collection: CollectionView;
}

export interface StoreFields {
  readonly name?: string | null | undefined;
  readonly description?: string | undefined;
  readonly metadata?: Metadata | null | undefined;
  readonly expires_after_days?: number | null | undefined;
}

/** Properties of a store that are not fields of collections. */
interface Own {
  readonly name?: string;
  /** The collection's name derived from it: if the collection was renamed since, that is the store's name. */
  readonly collection_name?: string;
  readonly metadata?: Metadata;
}

export interface StoreQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export class Stores {
  readonly #knowledge: Pick<Knowledge, "collections" | "repositories">;

  constructor(knowledge: Pick<Knowledge, "collections" | "repositories">) {
    this.#knowledge = knowledge;
  }

  async create(caller: Caller, repository: string, { name, description, ...fields }: StoreFields): Promise<Store> {
    if (repository === defaultProject)
      await this.#knowledge.repositories.ensureShared(caller, {
        repository_id: defaultProject,
        name: "OpenAI",
        description: "Vector stores created by clients of the OpenAI API.",
      });
    const collection_id = timeOrderedId(Date.now()).replaceAll("-", "");
    const collection = await withFreeName(nameOf(name), collection_id, async (collectionName) =>
      this.#knowledge.collections.create(caller, repository, {
        collection_id,
        ...(collectionName === undefined ? {} : { name: collectionName }),
        ...(description === undefined ? {} : { description }),
        ...(typeof fields.expires_after_days === "number" ? { expires_after_days: fields.expires_after_days } : {}),
        // Stores in the shared repository are private to their creator; elsewhere the repository decides.
        ...(repository === defaultProject ? { private: true } : {}),
        metadata: { custom_fields: { openai: ownFields({}, { name, metadata: fields.metadata }, collectionName) } },
      }),
    );
    return { repository, collection };
  }

  async get(caller: Caller, repository: string, storeId: string): Promise<Store> {
    const id = collectionIdOf(storeId);
    const collection =
      id === undefined ? undefined : await ifMissing(this.#knowledge.collections.get(caller, repository, id));
    if (collection === undefined) throw noStore(storeId);
    return { repository, collection };
  }

  /** For calls that only need the location of the store: whether it exists is checked only after an error. */
  async within<Result>(
    caller: Caller,
    repository: string,
    storeId: string,
    run: (collectionId: string) => Promise<Result>,
  ): Promise<Result> {
    const id = collectionIdOf(storeId);
    if (id === undefined) throw noStore(storeId);
    try {
      return await run(id);
    } catch (error) {
      if (hasCode(error, "NOT_FOUND")) await this.get(caller, repository, storeId);
      throw error;
    }
  }

  /** A store that can be searched and filled. */
  async getActive(caller: Caller, repository: string, storeId: string): Promise<Store> {
    const store = await this.get(caller, repository, storeId);
    if (isExpired(store.collection))
      throw invalid(
        `Vector store "${storeId}" has expired: it was not used for ${store.collection.expires_after_days} days.`,
      );
    return store;
  }

  async update(caller: Caller, repository: string, storeId: string, fields: StoreFields): Promise<Store> {
    for (let attempt = 1; ; attempt += 1) {
      const { collection: known } = await this.get(caller, repository, storeId);
      const { name, metadata, expires_after_days } = fields;
      try {
        const wanted = name === undefined ? undefined : nameOf(name);
        const collection = await withFreeName(wanted, known.collection_id, async (collectionName) => {
          const { custom_fields, ...rest } = known.metadata;
          const openai = ownFields(ownOf(known), { name, metadata }, collectionName);
          return this.#knowledge.collections.update(
            caller,
            repository,
            known.collection_id,
            {
              metadata: { ...rest, custom_fields: { ...custom_fields, openai } },
              ...(name === undefined ? {} : { name: collectionName ?? null }),
              ...(expires_after_days === undefined ? {} : { expires_after_days }),
            },
            known.etag,
          );
        });
        return { repository, collection };
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED") || attempt >= triesMax) throw error;
      }
    }
  }

  async delete(caller: Caller, repository: string, storeId: string): Promise<void> {
    const { collection } = await this.get(caller, repository, storeId);
    const { collection_id } = collection;
    await this.#knowledge.collections.delete(caller, repository, collection_id, { confirm: collection_id });
  }

  /** The default collection of a repository appears as a store once it has documents. */
  async list(
    caller: Caller,
    repository: string,
    { limit, order, after, before }: StoreQuery,
  ): Promise<{ readonly items: readonly CollectionView[]; readonly more: boolean }> {
    const backwards = before !== undefined && after === undefined;
    const direction = backwards ? (order === "asc" ? "desc" : "asc") : order;
    const from = backwards ? before : after;
    const until = backwards ? undefined : before;
    for (const id of [from, until]) if (id !== undefined) await this.get(caller, repository, id);
    const items: CollectionView[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await ifMissing(
        this.#knowledge.collections.list(caller, {
          repositoryId: repository,
          order: direction,
          limit: Math.min(pageItems, limit + 1 - items.length),
          after: from === undefined ? undefined : collectionIdOf(from),
          cursor,
        }),
      );
      const ended = page?.items.findIndex(({ collection_id }) => storeIdOf({ collection_id }) === until) ?? -1;
      const here = ended < 0 ? (page?.items ?? []) : (page?.items.slice(0, ended) ?? []);
      items.push(...here.filter(isShown));
      cursor = page?.next_cursor ?? undefined;
      if (cursor === undefined || ended >= 0 || items.length > limit) break;
    }
    const chosen = items.slice(0, limit);
    return { items: backwards ? chosen.toReversed() : chosen, more: items.length > limit };
  }
}

export function storeIdOf({ collection_id }: Pick<CollectionView, "collection_id">): string {
  return `${storePrefix}${collection_id}`;
}

export function displayName(collection: CollectionView): string {
  const { name, collection_name } = ownOf(collection);
  if (
    collection_name === collection.name ||
    (collection_name === undefined && collection.name === collection.collection_id)
  )
    return name ?? (collection.metadata.custom_fields["openai"] === undefined ? collection.name : "");
  return collection.name;
}

export function metadataOf(collection: CollectionView): Metadata {
  return ownOf(collection).metadata ?? {};
}

/** The time it expires, or expired, in milliseconds. */
export function expiresAt(collection: CollectionView): number | undefined {
  const { expires_after_days, expired_at } = collection;
  if (expired_at !== undefined) return Date.parse(expired_at);
  if (expires_after_days === undefined) return undefined;
  return lastActiveAt(collection) + expires_after_days * dayMs;
}

export function isExpired(collection: CollectionView, now = Date.now()): boolean {
  return collection.expired_at !== undefined || (expiresAt(collection) ?? Infinity) <= now;
}

export function lastActiveAt({ last_used_at, created_at }: CollectionView): number {
  return Date.parse(last_used_at ?? created_at);
}

function isShown({ is_default, document_count, row_count }: CollectionView): boolean {
  return !is_default || document_count > 0 || row_count > 0;
}

function collectionIdOf(storeId: string): string | undefined {
  return /^vs_[A-Za-z0-9._-]{1,128}$/.test(storeId) ? storeId.slice(storePrefix.length) : undefined;
}

function noStore(storeId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no vector store ${show(storeId)}.`);
}

function ownOf({ metadata: { custom_fields } }: CollectionView): Own {
  const own = custom_fields["openai"];
  return isJsonObject(own) ? own : {};
}

function ownFields(
  { name: formerName, collection_name: formerCollectionName, metadata: former }: Own,
  { name, metadata }: Pick<StoreFields, "name" | "metadata">,
  collectionName: string | undefined,
): JsonObject {
  const named =
    name === undefined
      ? { name: formerName, collection_name: formerCollectionName }
      : { name: name ?? undefined, collection_name: collectionName };
  const kept = metadata === undefined ? former : (metadata ?? undefined);
  const own = { ...named, metadata: kept };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

/** A valid collection name: letters, digits, spaces, "-" and "_". Without one, the collection is named after its id. */
function nameOf(name: string | null | undefined): string | undefined {
  const plain = (name ?? "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, " ")
    .trim()
    .slice(0, nameCharsMax)
    .trim();
  return plain === "" ? undefined : plain;
}

/** Names of stores need not be unique, but those of collections must be: the second one gets a suffix from its id. */
async function withFreeName<Result>(
  name: string | undefined,
  collectionId: string,
  run: (name: string | undefined) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(name);
  } catch (error) {
    if (name === undefined || !hasCode(error, "CONFLICT")) throw error;
    return run(`${name.slice(0, nameCharsMax - markChars - 1)} ${collectionId.slice(-markChars)}`);
  }
}
