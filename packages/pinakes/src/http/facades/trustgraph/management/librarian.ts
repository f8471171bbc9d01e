/**
 * Collections as the librarian of the source has them (RFC 0007): one request with an operation in it. The collections are those of the
 * caller's own repository, but one that is moved may be in any; who the user is comes from the credential, and a body that names another one is refused. Answers and errors have
 * the source's form, whatever went wrong.
 */
import { requireCaller, type Caller } from "../../../../domain/caller.ts";
import { PinakesError, type ErrorCode } from "../../../../domain/errors.ts";
import { ifMissing } from "../../../../runtime/expected-errors.ts";
import { librarianListMax, readManagement, UnknownOperation, type ManagementRequest } from "./request.ts";
import { personalAlias, type CollectionView, type Knowledge } from "../../../../knowledge/index.ts";
import type { Migrations } from "../../../../migrations/index.ts";

const pageItems = 100;
const attemptsMax = 100;

export interface ManagedCollection {
  readonly user: string;
  readonly collection: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ManagementResponse {
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly collections: readonly ManagedCollection[];
  readonly timestamp: string;
  readonly next_cursor?: string | null;
  /** Of a delete: GET /v1/jobs/{id} tells how far it is. */
  readonly job_id?: string;
  /** Of a migration: GET /v1/migrations/{id} tells how far it is. */
  readonly migration_id?: string;
}

export interface ManagementAnswer {
  /** As in HTTP. */
  readonly status: number;
  readonly response: ManagementResponse;
}

type CollectionCalls = Pick<Knowledge["collections"], "get" | "list" | "create" | "update" | "archive" | "delete">;

type Told = Omit<ManagementResponse, "error" | "timestamp">;

export class Librarian {
  readonly #collections: CollectionCalls;
  readonly #migrations: Pick<Migrations, "create">;

  constructor(collections: CollectionCalls, migrations: Pick<Migrations, "create">) {
    this.#collections = collections;
    this.#migrations = migrations;
  }

  /** Throws only where there is no caller: what else goes wrong is in the answer. */
  async manage(
    caller: Caller,
    body: unknown,
    { readOnly = false }: { readonly readOnly?: boolean } = {},
  ): Promise<ManagementAnswer> {
    const { response, failure } = await this.attempt(caller, body, { readOnly });
    return { status: failure?.status ?? 200, response };
  }

  /** With the error itself, for answers of another form. */
  async attempt(
    caller: Caller,
    body: unknown,
    { readOnly = false }: { readonly readOnly?: boolean } = {},
  ): Promise<{ readonly response: ManagementResponse; readonly failure?: PinakesError }> {
    requireCaller(caller);
    try {
      const told = await this.#run(caller, body, readOnly);
      return { response: { error: null, ...told, timestamp: this.#now() } };
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      return { response: this.refusal(error), failure: error };
    }
  }

  /** Makes the collection where it is not there; one that is there stays as it is. */
  async ensure(caller: Caller, collection: string): Promise<void> {
    await this.#update(caller, collection, { operation: "update-collection" });
  }

  /** An error as clients of the source know them; also of requests that never came here, such as those without a caller. */
  refusal(error: PinakesError): ManagementResponse {
    const type = error instanceof UnknownOperation ? "invalid_operation" : typeOf(error.code);
    return { error: { type, message: error.detail }, collections: [], timestamp: this.#now() };
  }

  async #run(caller: Caller, body: unknown, readOnly: boolean): Promise<Told> {
    const request = readManagement(body, caller.userId);
    if (readOnly && request.operation !== "list-collections")
      throw new PinakesError("FORBIDDEN", "This key may only read. Use one that may write.");
    switch (request.operation) {
      case "list-collections":
        return this.#list(caller, request);
      case "create-collection":
        return { collections: [managed(caller, await this.#create(caller, collectionOf(request), request))] };
      case "update-collection":
        return this.#update(caller, collectionOf(request), request);
      case "archive-collection":
        return {
          collections: [managed(caller, await this.#collections.archive(caller, personalAlias, collectionOf(request)))],
        };
      case "delete-collection":
        return this.#delete(caller, collectionOf(request), request);
      case "migrate-collection":
        return this.#move(caller, collectionOf(request), request);
    }
  }

  async #list(caller: Caller, { tag_filter, tag_match, limit, cursor }: ManagementRequest): Promise<Told> {
    const wanted = limit === 0 || limit === undefined || limit === null ? librarianListMax : limit;
    const query = {
      repositoryId: personalAlias,
      status: "live",
      tags: tag_filter ?? [],
      tag_match: tag_match ?? "any",
    } as const;
    const collections: ManagedCollection[] = [];
    let next: string | undefined = cursor ?? undefined;
    do {
      const page = await this.#collections.list(caller, {
        ...query,
        limit: Math.min(pageItems, wanted - collections.length),
        cursor: next,
      });
      collections.push(...page.items.map((item) => managed(caller, item)));
      next = page.next_cursor ?? undefined;
    } while (next !== undefined && collections.length < wanted);
    return { collections, next_cursor: next ?? null };
  }

  /** Makes it where it is not there: whoever describes a collection before loading anything means the same one. */
  async #update(caller: Caller, id: string, request: ManagementRequest): Promise<Told> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { collections: [managed(caller, await this.#put(caller, id, request))] };
      } catch (error) {
        // Made, changed or removed by somebody else at the same moment: look again.
        const raced =
          PinakesError.isInstance(error) &&
          (error.code === "PRECONDITION_FAILED" ||
            error.code === "NOT_FOUND" ||
            (await this.#appeared(caller, id, error)));
        if (!raced || attempt >= attemptsMax) throw error;
      }
    }
  }

  /** One that is there is a conflict, and stays as it is. */
  async #create(caller: Caller, id: string, request: ManagementRequest): Promise<CollectionView> {
    const { tags } = request;
    return this.#collections.create(caller, personalAlias, {
      collection_id: id,
      ...fieldsOf(request),
      ...(tags === undefined ? {} : { metadata: { tags: tags ?? [] } }),
    });
  }

  async #put(caller: Caller, id: string, request: ManagementRequest): Promise<CollectionView> {
    const known = await this.#find(caller, id);
    if (known === undefined) return this.#create(caller, id, request);
    const { tags } = request;
    const patch = {
      ...fieldsOf(request),
      ...(tags === undefined ? {} : { metadata: { ...known.metadata, tags: tags ?? [] } }),
    };
    if (Object.keys(patch).length === 0) return known;
    // Tags are written with the fields beside them, which must be those that were read.
    return this.#collections.update(caller, personalAlias, id, patch, tags === undefined ? undefined : known.etag);
  }

  async #delete(caller: Caller, id: string, { confirm, purge }: ManagementRequest): Promise<Told> {
    // Before anything else of the delete: nothing has changed when it is missing.
    await this.#collections.get(caller, personalAlias, id);
    if (confirm !== id)
      throw new PinakesError(
        "INVALID",
        `confirm: must be the id of the collection, ${JSON.stringify(id)}, as a sign that it is meant. Nothing was changed.`,
      );
    const { job_id } = await this.#collections.delete(caller, personalAlias, id, {
      confirm: id,
      ...(purge === true ? { purge } : {}),
    });
    return { collections: [], job_id };
  }

  /** To another id, another repository, or both. The record is the old one's, until the migration is through. */
  async #move(caller: Caller, id: string, request: ManagementRequest): Promise<Told> {
    const { target_collection, target_repository, allow_partial } = request;
    const repository = request.repository ?? personalAlias;
    const to = {
      ...(typeof target_repository === "string" ? { repository: target_repository } : {}),
      ...(typeof target_collection === "string" ? { collection: target_collection } : {}),
    };
    const record = await this.#collections.get(caller, repository, id);
    const { migration_id } = await this.#migrations.create(caller, {
      source: {
        kind: "collection",
        repository,
        collection: id,
        to,
        ...(allow_partial === true ? { allow_partial } : {}),
      },
      auto: true,
    });
    return { collections: [managed(caller, record)], migration_id };
  }

  #now(): string {
    return new Date().toISOString();
  }

  async #find(caller: Caller, id: string): Promise<CollectionView | undefined> {
    return ifMissing(this.#collections.get(caller, personalAlias, id));
  }

  /** A create that found the id taken; a name that is taken stays so. */
  async #appeared(caller: Caller, id: string, error: PinakesError): Promise<boolean> {
    return error.context.reason === "collection_exists" && (await this.#find(caller, id)) !== undefined;
  }
}

function fieldsOf({ name, description }: ManagementRequest): { name?: string | null; description?: string | null } {
  return {
    ...(name === undefined ? {} : { name: name === "" ? null : name }),
    ...(description === undefined ? {} : { description }),
  };
}

function collectionOf({ collection, operation }: ManagementRequest): string {
  if (typeof collection === "string" && collection !== "") return collection;
  throw new PinakesError("INVALID", `collection: ${operation} needs the id of the collection.`);
}

function managed(
  { userId }: Caller,
  { collection_id, name, description, metadata, created_at, updated_at }: CollectionView,
): ManagedCollection {
  return { user: userId, collection: collection_id, name, description, tags: metadata.tags, created_at, updated_at };
}

function typeOf(code: ErrorCode): string {
  return code === "INVALID" ? "invalid_request" : code.toLowerCase();
}
