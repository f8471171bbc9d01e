/** Explains access decisions. */
import type { AccessDecision } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { decideCollection, decideRepository, type Decision } from "../access/access.ts";
import { decideDocument, openAccess } from "../access/document-access.ts";
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

  /** The same for a document, which may narrow the access to its collection. */
  async explainDocument(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    user?: { readonly user_id: string; readonly groups?: readonly string[] | undefined },
  ): Promise<AccessDecision> {
    const decision = await this.explain(caller, repositoryId, collectionId, user);
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId);
    const { record } = await this.#of.documents.get(caller, opened, documentId);
    const who = user === undefined ? caller : this.actAs(caller, user);
    const { document_id, status, uploaded_by, live, access = openAccess } = record;
    const { allowed_groups, allowed_users, sensitivity } = access;
    return {
      ...decideDocument(who, decision, record),
      document: {
        document_id,
        status,
        uploaded_by,
        searchable: live !== null,
        allowed_groups,
        allowed_users,
        sensitivity,
      },
    };
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
