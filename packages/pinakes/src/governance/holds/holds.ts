/**
 * Legal holds (R-AGT-69): matching data is not purged, erased or deleted with its collection. Records are stored under the system's tenant,
 * so that operations on the workspace do not remove them; data that expires under a hold is copied to `held-items` of the workspace.
 *
 * Invariant: a copy is stored before the expired row is removed, and a release removes a copy only if no other hold matches it.
 */
import { hash } from "node:crypto";
import { holdScopeTypes, type HoldScope, type LegalHold, type NewLegalHold } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { compileFilter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import type { Containers } from "../../state/index.ts";
import { checkId } from "../subjects/subject.ts";
import { governanceTenant } from "../tenant.ts";
import { governanceLimits } from "../limits.ts";
import { HoldMatcher } from "./hold-matcher.ts";

export const holdsContainer: ContainerDefinition = Object.freeze({
  name: "legal-holds",
  partitionKey: ["workspace_id"],
});
/** Rows whose time to live ended under a hold, as they were. */
export const heldItemsContainer: ContainerDefinition = Object.freeze({
  name: "held-items",
  partitionKey: ["container"],
});
/** A copy keeps the document under this name, so that its fields do not become those of the copy. */
const heldFields = (container: string, row: WalkedItem, now: number): JsonObject => ({
  id: hash("sha256", JSON.stringify([row.partition, row.id]), "hex"),
  container,
  held: row.document,
  etag: row.etag,
  modified_at: row.modifiedAt,
  expired_at: now,
});

interface HoldRecord extends LegalHold {
  /** The container of a query, by its name in the item store. */
  readonly stored_as?: string | undefined;
}

function storedAs(scope: HoldScope, container: string | undefined): HoldScope {
  return container === undefined ? scope : { ...scope, container };
}

export interface HoldsDependencies {
  readonly containers: Pick<Containers, "storedName">;
  readonly items: ItemStore;
  readonly system: SystemScope;
  readonly clock: Clock;
  readonly newId: () => string;
  /** How late a hold of another process may be seen. */
  readonly seenMs: number;
}

interface Known {
  readonly readAt: number;
  readonly holds: readonly HoldMatcher[];
}

export class Holds {
  readonly #deps: HoldsDependencies;
  readonly #scope: Scope;
  readonly #known = new Map<string, Known>();
  #released: (workspace: string) => Promise<void> = async () => {};

  constructor(deps: HoldsDependencies) {
    this.#deps = deps;
    this.#scope = deps.system.forTenant(governanceTenant);
  }

  async open(): Promise<this> {
    await this.#deps.items.openContainer(holdsContainer);
    await this.#deps.items.openContainer(heldItemsContainer);
    return this;
  }

  /** Called after a release, for what waited. */
  onReleased(released: (workspace: string) => Promise<void>): void {
    this.#released = released;
  }

  async create(caller: Caller, input: NewLegalHold): Promise<LegalHold> {
    const { tenant } = requireAdmin(caller);
    const scope = checkScope(input.scope);
    const { reason } = input;
    const max = governanceLimits.reasonCharsMax;
    if (typeof reason !== "string" || reason.trim() === "" || reason.length > max)
      throw invalid(`reason: must be a string of 1–${max} characters, got ${show(reason)}.`);
    if ((await this.list(caller)).length >= governanceLimits.holdsMax)
      throw new PinakesError("LIMIT_EXCEEDED", `A workspace has at most ${governanceLimits.holdsMax} legal holds.`);
    const holdId = this.#deps.newId();
    const storedName = scope.container === undefined ? undefined : await this.#storedName(caller, scope.container);
    const matched = await this.#count(tenant, new HoldMatcher(holdId, storedAs(scope, storedName)));
    if (matched === 0)
      throw new PinakesError(
        "NOT_FOUND",
        "scope: nothing in this workspace matches the hold, so it would keep nothing.",
      );
    const hold: LegalHold = {
      hold_id: holdId,
      workspace_id: tenant,
      scope,
      reason,
      matched,
      created_by: caller.userId,
      created_at: new Date(this.#deps.clock.now()).toISOString(),
    };
    await this.#deps.items.write(this.#scope, holdsContainer.name, [tenant], {
      op: "create",
      document: {
        id: holdId,
        ...(hold as unknown as JsonObject),
        ...(storedName === undefined ? {} : { stored_as: storedName }),
      },
    });
    this.#known.delete(tenant);
    return hold;
  }

  /** Oldest first; there are at most 100. */
  async list(caller: Caller): Promise<readonly LegalHold[]> {
    return (await this.#read(requireAdmin(caller).tenant)).map(({ stored_as: _, ...hold }) => hold);
  }

  async get(caller: Caller, holdId: string): Promise<LegalHold> {
    const found = (await this.list(caller)).find((hold) => hold.hold_id === holdId);
    if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no legal hold ${show(holdId)}.`);
    return found;
  }

  /** Data protected only by this hold expires, and erasures that it blocked resume. */
  async release(caller: Caller, holdId: string): Promise<void> {
    const hold = await this.get(caller, holdId);
    await this.#deps.items.write(this.#scope, holdsContainer.name, [hold.workspace_id], { op: "delete", id: holdId });
    this.#known.delete(hold.workspace_id);
    await this.#dropCopies(hold.workspace_id);
    await this.#released(hold.workspace_id);
  }

  /** Active holds, as known to this process; at most `seenMs` old. */
  async inForce(workspace: string): Promise<readonly HoldMatcher[]> {
    const known = this.#known.get(workspace);
    const now = performance.now();
    if (known !== undefined && now - known.readAt < this.#deps.seenMs) return known.holds;
    const holds = (await this.#read(workspace)).map(
      ({ hold_id, scope, stored_as }) => new HoldMatcher(hold_id, storedAs(scope, stored_as)),
    );
    this.#known.set(workspace, { readAt: now, holds });
    return holds;
  }

  /** Throws CONFLICT with the hold's id if one protects the row. */
  async refuse(workspace: string, container: string, document: JsonObject, what: string): Promise<void> {
    const hold = (await this.inForce(workspace)).find((one) => one.matches({ container, document }));
    if (hold === undefined) return;
    throw new PinakesError(
      "CONFLICT",
      `${what} is under the legal hold "${hold.holdId}", so it cannot be deleted until the hold is released.`,
    );
  }

  /** Before expired rows are purged: copies those that a hold keeps. */
  async keepExpired(workspace: string, container: string, rows: readonly WalkedItem[]): Promise<void> {
    if (container === heldItemsContainer.name || workspace.startsWith("pinakes")) return;
    const holds = await this.inForce(workspace);
    if (holds.length === 0) return;
    const scope = this.#deps.system.forTenant(workspace);
    for (const row of rows) {
      if (!holds.some((hold) => hold.matches({ container, document: row.document }))) continue;
      const document = heldFields(container, row, this.#deps.clock.now());
      await this.#deps.items.write(scope, heldItemsContainer.name, [container], { op: "upsert", document });
    }
  }

  async #read(workspace: string): Promise<readonly HoldRecord[]> {
    const { items } = await this.#deps.items.query(this.#scope, holdsContainer.name, {
      equals: { workspace_id: workspace },
      limit: governanceLimits.holdsMax,
    });
    return items
      .map(({ document: { id: _, ...hold } }) => hold as unknown as HoldRecord)
      .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  /** Stores that are no containers of the containers API have one name. */
  async #storedName(caller: Caller, container: string): Promise<string> {
    try {
      return await this.#deps.containers.storedName(caller, container);
    } catch (error) {
      if (hasCode(error, "NOT_FOUND", "INVALID")) return container;
      throw error;
    }
  }

  async #count(workspace: string, hold: HoldMatcher): Promise<number> {
    const { erasure } = this.#deps.items;
    const scope = this.#deps.system.forTenant(workspace);
    const wanted = hold.scope.type === "query" ? [hold.scope.container as string] : undefined;
    const names = (await erasure.containers()).map(({ name }) => name);
    let count = 0;
    for (const container of wanted ?? names) {
      if (!names.includes(container)) throw new PinakesError("NOT_FOUND", `There is no container ${show(container)}.`);
      for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
        const page = await erasure.walk(scope, container, { cursor });
        count += page.rows.filter(({ document, expired }) => !expired && hold.matches({ container, document })).length;
        ({ cursor } = page);
      }
    }
    return count;
  }

  async #dropCopies(workspace: string): Promise<void> {
    const holds = await this.inForce(workspace);
    const scope = this.#deps.system.forTenant(workspace);
    const { erasure } = this.#deps.items;
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await erasure.walk(scope, heldItemsContainer.name, { cursor });
      const free = page.rows.filter(({ document }) => {
        const row = { container: document["container"] as string, document: document["held"] as JsonObject };
        return !holds.some((hold) => hold.matches(row));
      });
      await erasure.remove(scope, heldItemsContainer.name, free);
      ({ cursor } = page);
    }
  }
}

export function requireAdmin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role === "admin") return scope;
  throw new PinakesError("FORBIDDEN", "Only an admin of the workspace may see and change erasures and legal holds.");
}

function checkScope(scope: HoldScope): HoldScope {
  const { type, id, repository_id, collection_id, container, filter } = scope;
  if (!holdScopeTypes.includes(type))
    throw invalid(`scope.type: must be one of ${holdScopeTypes.join(", ")}, got ${show(type)}.`);
  switch (type) {
    case "workspace":
      return { type };
    case "collection":
      return {
        type,
        repository_id: checkId(repository_id, "scope.repository_id"),
        collection_id: checkId(collection_id, "scope.collection_id"),
      };
    case "query":
      if (filter === undefined) throw invalid("scope.filter: a query needs a filter on the container's documents.");
      compileFilter(filter, "scope.filter");
      return { type, container: checkId(container, "scope.container"), filter };
    default:
      return { type, id: checkId(id, "scope.id") };
  }
}
