/**
 * Resolves the collection and the document that a client names. A collection is named by its id, by its name, or by the embedding model of
 * its repository, which selects the default collection. A document is named by its id only.
 */
import type { Caller } from "../../../domain/caller.ts";
import { hasCode, PinakesError } from "../../../domain/errors.ts";
import {
  defaultCollectionId,
  knowledgeLimits,
  type CollectionView,
  type DocumentView,
  type Knowledge,
} from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { inParallel } from "../../../runtime/in-parallel.ts";

const readsAtOnce = 8;
const rememberedMax = 10_000;

export class Resolver {
  readonly #knowledge: Pick<Knowledge, "collections" | "documents" | "repositories">;
  /** Where documents were last seen. Only a hint: the document is read again with the caller's rights. */
  readonly #seen = new Map<string, string>();

  constructor(knowledge: Pick<Knowledge, "collections" | "documents" | "repositories">) {
    this.#knowledge = knowledge;
  }

  /** Runs with the id; other meanings are tried only if there is no such collection. */
  async within<Result>(
    caller: Caller,
    repositoryId: string,
    asked: string,
    run: (collectionId: string) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await run(asked);
    } catch (error) {
      // A model id may contain characters that a collection id may not.
      if (!hasCode(error, "NOT_FOUND") && !(hasCode(error, "INVALID") && /[/\\?#]/.test(asked))) throw error;
      const meant = await this.#meant(caller, repositoryId, asked);
      if (meant === undefined || meant === asked) throw error;
      return run(meant);
    }
  }

  async #meant(caller: Caller, repositoryId: string, asked: string): Promise<string | undefined> {
    const repository = await this.#knowledge.repositories.get(caller, repositoryId);
    if (repository.embedding_model === asked) return this.#default(caller, repositoryId, asked);
    if (asked.length > knowledgeLimits.nameCharsMax) return undefined;
    for await (const { name, collection_id } of this.#collections(caller, repositoryId, asked))
      if (name === asked) return collection_id;
    return undefined;
  }

  /** An imported collection has its model's former id. */
  async #default(caller: Caller, repositoryId: string, model: string): Promise<string | undefined> {
    const usual = defaultCollectionId(model);
    if (usual !== model) return usual;
    for await (const { is_default, collection_id } of this.#collections(caller, repositoryId))
      if (is_default) return collection_id;
    return undefined;
  }

  async document(
    caller: Caller,
    repositoryId: string,
    documentId: string,
    collectionId?: string,
  ): Promise<DocumentView> {
    const read = (id: string) => this.#knowledge.documents.get(caller, repositoryId, id, documentId);
    if (collectionId !== undefined) return this.within(caller, repositoryId, collectionId, read);
    const known = this.#seen.get(placeOf(caller, repositoryId, documentId));
    const there = known === undefined ? undefined : await ifMissing(read(known));
    if (there !== undefined) return there;
    await this.#knowledge.repositories.get(caller, repositoryId);
    for (let cursor: string | undefined; ;) {
      const page = await this.#page(caller, repositoryId, cursor);
      const found = await inParallel(page.items, readsAtOnce, ({ collection_id }) => ifMissing(read(collection_id)));
      const document = found.find((one) => one !== undefined);
      if (document !== undefined) return this.noted(caller, [document])[0] as DocumentView;
      if (page.next_cursor === null)
        throw new PinakesError("NOT_FOUND", `There is no document "${documentId}" in repository "${repositoryId}".`);
      cursor = page.next_cursor;
    }
  }

  /** Remembers the collection of documents. */
  noted<Item extends Pick<DocumentView, "repository_id" | "collection_id" | "document_id">>(
    caller: Caller,
    documents: readonly Item[],
  ): readonly Item[] {
    for (const { repository_id, collection_id, document_id } of documents) {
      const place = placeOf(caller, repository_id, document_id);
      this.#seen.delete(place);
      this.#seen.set(place, collection_id);
      if (this.#seen.size > rememberedMax) this.#seen.delete(this.#seen.keys().next().value as string);
    }
    return documents;
  }

  /** Collections of a repository, newest first, without deleted ones; `q` is a substring of the name or the description. */
  async *#collections(caller: Caller, repositoryId: string, q?: string): AsyncGenerator<CollectionView> {
    for (let cursor: string | undefined; ;) {
      const page = await this.#page(caller, repositoryId, cursor, q);
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  async all(caller: Caller, repositoryId: string): Promise<readonly CollectionView[]> {
    return Array.fromAsync(this.#collections(caller, repositoryId));
  }

  #page(caller: Caller, repositoryId: string, cursor: string | undefined, q?: string) {
    return this.#knowledge.collections.list(caller, {
      repositoryId,
      status: "live",
      limit: knowledgeLimits.pageItemsMax,
      cursor,
      q,
    });
  }
}

function placeOf({ scope }: Caller, repositoryId: string, documentId: string): string {
  return JSON.stringify([scope.tenant, repositoryId, documentId]);
}
