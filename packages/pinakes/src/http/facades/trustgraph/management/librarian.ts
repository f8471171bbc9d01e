/**
 * Collections in the form of TrustGraph's librarian (RFC 0007): one request that contains an operation. The collections are those of the
 * caller's own repository, except that a migrated one may be in any repository; the user comes from the credential, and a body that names
 * another user is refused. Responses and errors always have TrustGraph's form.
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
  /** For a delete: GET /v1/jobs/{id} reports its progress. */
  readonly job_id?: string;
  /** For a migration: GET /v1/migrations/{id} reports its progress. */
  readonly migration_id?: string;
}

export interface ManagementAnswer {
  /** As over HTTP. */
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

  /** Throws only if there is no caller; any other error is part of the response. */
  async manage(
    caller: Caller,
    body: unknown,
    { readOnly = false }: { readonly readOnly?: boolean } = {},
  ): Promise<ManagementAnswer> {
    const { response, failure } = await this.attempt(caller, body, { readOnly });
    return { status: failure?.status ?? 200, response };
  }

  /** Includes the original error, for responses in another format. */
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

  /** Creates the collection if it does not exist; an existing one is unchanged. */
  async ensure(caller: Caller, collection: string): Promise<void> {
    await this.#update(caller, collection, { operation: "update-collection" });
  }

  /** An error in TrustGraph's form; also for requests rejected before this point, such as those without a caller. */
  refusal(error: PinakesError): ManagementResponse {
    const type = error instanceof UnknownOperation ? "invalid_operation" : typeOf(error.code);
    return { error: { type, message: error.detail }, collections: [], timestamp: this.#now() };
  }

  async #run(caller: Caller, body: unknown, readOnly: boolean): Promise<Told> {
    const request = readManagement(body, caller.userId);
    if (readOnly && request.operation !== "list-collections")
      throw new PinakesError("FORBIDDEN", "This key is read-only. Use one with write access.");
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

  /** Creates the collection if it is missing: a client may describe a collection before loading anything. */
  async #update(caller: Caller, id: string, request: ManagementRequest): Promise<Told> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { collections: [managed(caller, await this.#put(caller, id, request))] };
      } catch (error) {
        // Created, changed or removed concurrently: read again.
        const raced =
          PinakesError.isInstance(error) &&
          (error.code === "PRECONDITION_FAILED" ||
            error.code === "NOT_FOUND" ||
            (await this.#appeared(caller, id, error)));
        if (!raced || attempt >= attemptsMax) throw error;
      }
    }
  }

  /** An existing collection is a conflict, and is unchanged. */
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
    // Tags are written together with the other fields, which must not have changed since they were read.
    return this.#collections.update(caller, personalAlias, id, patch, tags === undefined ? undefined : known.etag);
  }

  async #delete(caller: Caller, id: string, { confirm, purge }: ManagementRequest): Promise<Told> {
    // Checked before anything else in the delete: if it is missing, nothing has changed.
    await this.#collections.get(caller, personalAlias, id);
    if (confirm !== id)
      throw new PinakesError(
        "INVALID",
        `confirm: must be the id of the collection, ${JSON.stringify(id)}, to confirm the deletion. Nothing was changed.`,
      );
    const { job_id } = await this.#collections.delete(caller, personalAlias, id, {
      confirm: id,
      ...(purge === true ? { purge } : {}),
    });
    return { collections: [], job_id };
  }

  /** Migrates to another id, another repository, or both. The old collection keeps its record until the migration is finished. */
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

  /** For a create that found the id in use; a name in use remains a conflict. */
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
