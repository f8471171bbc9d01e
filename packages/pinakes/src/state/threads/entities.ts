/** Entities: one document of any schema per agent, with the agent's id. */
import type { AgentEntity, IfMatch, Stored } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { freeDocument, freeView, requireFreeId } from "./free-document.ts";
import { entityStore } from "./thread-stores.ts";

export interface PutOptions extends IfMatch {
  /** `absent`: create only; `present`: replace only. Otherwise PRECONDITION_FAILED. */
  readonly must?: "absent" | "present" | undefined;
}

export class Entities {
  readonly #deps: StateDependencies;

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** Opens its containers. */
  async open(): Promise<void> {
    await this.#deps.items.openContainer(entityStore);
  }

  async get(caller: Caller, agentId: string): Promise<Stored<AgentEntity>> {
    const scope = requireCaller(caller);
    const item = await this.#deps.items.read(scope, entityStore.name, {
      partition: [requireFreeId(agentId, "agentId")],
      id: agentId,
    });
    if (item === undefined) throw noEntity(agentId);
    return freeView(item);
  }

  async put(
    caller: Caller,
    agentId: string,
    entity: JsonObject,
    options: PutOptions = {},
  ): Promise<Stored<AgentEntity>> {
    const scope = requireCaller(caller);
    requireFreeId(agentId, "agentId");
    const given = freeDocument(entity, "The entity", scope.tenant);
    for (const name of ["id", "agentId"])
      if (given[name] !== undefined && given[name] !== agentId)
        throw invalid(
          `${name}: an agent has one entity, whose id is the agent's (${show(agentId)}); got ${show(given[name])}.`,
        );
    const document = { id: agentId, agentId, ...given };
    try {
      const { etag, modifiedAt } = await this.#deps.items.write(
        scope,
        entityStore.name,
        [agentId],
        operation(document, options),
      );
      return freeView({ document, etag: etag as string, modifiedAt: modifiedAt as number });
    } catch (error) {
      throw asPrecondition(error, agentId, options);
    }
  }

  async delete(caller: Caller, agentId: string, options: IfMatch = {}): Promise<void> {
    const scope = requireCaller(caller);
    const { ifMatch } = options;
    try {
      const remove = {
        op: "delete",
        id: requireFreeId(agentId, "agentId"),
        ifMatch,
      } as const;
      await this.#deps.items.write(scope, entityStore.name, [agentId], remove);
    } catch (error) {
      throw hasCode(error, "NOT_FOUND") ? noEntity(agentId) : error;
    }
  }
}

function operation(document: JsonObject, { ifMatch, must }: PutOptions): Operation {
  if (must === "absent") return { op: "create", document };
  if (must === "present" || ifMatch !== undefined) return { op: "replace", document, ifMatch };
  return { op: "upsert", document };
}

/** A condition on the existence of the entity is an ordinary precondition. */
function asPrecondition(error: unknown, agentId: string, { must, ifMatch }: PutOptions): unknown {
  if (!PinakesError.isInstance(error)) return error;
  if (must === "absent" && error.code === "CONFLICT")
    return new PinakesError("PRECONDITION_FAILED", `The entity of agent ${show(agentId)} already exists.`, {
      ...error.context,
      cause: error,
    });
  if ((must === "present" || ifMatch !== undefined) && error.code === "NOT_FOUND")
    return new PinakesError(
      "PRECONDITION_FAILED",
      `There is no entity of agent ${show(agentId)}, so the precondition fails.`,
      { cause: error },
    );
  return error;
}

function noEntity(agentId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no entity of agent ${show(agentId)}.`);
}
