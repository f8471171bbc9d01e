/** Explains access decisions. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { decideCollection, decideRepository, type Decision } from "../access/access.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Services } from "./services.ts";
import { noteActingFor } from "../../runtime/call-notes.ts";

export class AccessApi {
  readonly #deps: KnowledgeDependencies;
  readonly #of: Services;

  constructor(services: Services) {
    this.#deps = services.deps;
    this.#of = services;
  }

  /** What the caller, or for admins another user, may do, and why. Only admins can ask about what they cannot see. */
  async explain(
    caller: Caller,
    repositoryId: string,
    collectionId?: string,
    user?: { readonly user_id: string; readonly groups?: readonly string[] | undefined },
  ): Promise<Decision> {
    const who = user === undefined ? caller : this.actAs(caller, user);
    const { record: repository } = await this.#of.repositories.get(caller, repositoryId);
    if (collectionId === undefined) return decideRepository(who, repository);
    const { collection } = await this.#of.collections.open(caller, repositoryId, collectionId);
    return decideCollection(who, repository, collection);
  }

  /** An admin impersonates another user, to see what they see. */
  actAs(caller: Caller, user: { readonly user_id: string; readonly groups?: readonly string[] | undefined }): Caller {
    const { tenant } = requireCaller(caller);
    if (caller.role !== "admin")
      throw new PinakesError("FORBIDDEN", "as_user: only admins can impersonate other users.");
    noteActingFor(user.user_id);
    return this.#deps.callerOf({ tenant, userId: user.user_id, groups: user.groups ?? [] });
  }
}
