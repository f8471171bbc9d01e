/** Repositories, for every interface. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { ifMissing, tolerate } from "../../runtime/expected-errors.ts";
import { deleteRepository } from "./begin-work.ts";
import { chunkingWarnings } from "../collections/chunking-warnings.ts";
import { conditionOn } from "../records/conditions.ts";
import { checkLimit } from "../collections/list-collections.ts";
import type { Stored } from "../records/catalog-records.ts";
import type { RepositoryRecord } from "../records/records.ts";
import type { NewRepository, RepositoryPatch } from "../collections/repositories.ts";
import type { ListPage, Paging, Totalled } from "../records/paging.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Services } from "./services.ts";
import { repositoryView, type JobView, type RepositoryView } from "../views.ts";

export class RepositoriesApi {
  readonly #deps: KnowledgeDependencies;
  readonly #of: Services;

  constructor(services: Services) {
    this.#deps = services.deps;
    this.#of = services;
  }

  async create(caller: Caller, input: NewRepository): Promise<RepositoryView> {
    return this.#changed(await this.#of.repositories.create(caller, input));
  }

  /** `me` is the caller's personal repository. */
  async get(caller: Caller, repositoryId: string): Promise<RepositoryView> {
    return repositoryView(await this.#of.repositories.get(caller, repositoryId));
  }

  /**
   * A repository that an interface uses for its collections, open to the workspace; created on first use. An existing one that an admin
   * created under this id is used unchanged.
   */
  async ensureShared(
    caller: Caller,
    input: { readonly repository_id: string; readonly name: string; readonly description: string },
  ): Promise<void> {
    const { tenant } = requireCaller(caller);
    const exists = () => ifMissing(this.#of.repositories.get(caller, input.repository_id));
    if ((await exists()) !== undefined) return;
    const system = this.#deps.callerOf({ tenant, userId: "system", role: "admin" });
    // CONFLICT: another request created it first, or it exists and is not accessible to this caller.
    await tolerate(this.#of.repositories.create(system, input), "CONFLICT");
  }

  async list(
    caller: Caller,
    { limit, cursor, include_total }: Paging & Totalled = {},
  ): Promise<ListPage<RepositoryView>> {
    const page = await this.#of.repositories.list(caller, { limit: checkLimit(limit), cursor });
    const total = include_total === true ? { total: await this.#of.repositories.count(caller) } : {};
    return { items: page.items.map(repositoryView), next_cursor: page.cursor ?? null, ...total };
  }

  async update(
    caller: Caller,
    repositoryId: string,
    patch: RepositoryPatch,
    ifMatch?: string,
  ): Promise<RepositoryView> {
    return this.#changed(
      await conditionOn(
        `Repository "${repositoryId}"`,
        this.#of.repositories.update(caller, repositoryId, patch, ifMatch),
      ),
    );
  }

  /** Deletes it permanently with all its collections; `confirm` must be the id. */
  async delete(caller: Caller, repositoryId: string, confirm: string | undefined, ifMatch?: string): Promise<JobView> {
    return deleteRepository(this.#of, caller, repositoryId, { confirm, ifMatch });
  }

  async #changed(stored: Stored<RepositoryRecord>): Promise<RepositoryView> {
    const { chunking_strategy, embedding_model } = stored.record;
    const warnings =
      chunking_strategy === null ? [] : await chunkingWarnings(this.#deps, chunking_strategy, embedding_model);
    return { ...repositoryView(stored), ...(warnings.length === 0 ? {} : { warnings }) };
  }
}
