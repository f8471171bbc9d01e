/** Agents: who has said something in a workspace. They are nothing of their own, but found by their messages when asked for. */
import type { Page, Paging } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, Query, SessionTokens } from "../../ports/item-store.ts";
import type { StateParts } from "../parts.ts";
import { memoryLimits } from "./limits.ts";
import type { MemoryStore } from "./memory-store.ts";
import { SignedCursors } from "./signed-cursor.ts";

export interface AgentView {
  readonly agent_id: string;
  readonly first_message_at: string;
  readonly last_message_at: string;
}

const list = ["agents"];

export class Agents {
  readonly #store: MemoryStore;
  readonly #cursors: SignedCursors;

  constructor({ signingKey }: Pick<StateParts, "signingKey">, store: MemoryStore) {
    this.#store = store;
    this.#cursors = new SignedCursors(signingKey);
  }

  /** In the order of their ids. From one agent it leaps to the next, so how much they said does not matter. */
  async list(
    scope: Scope,
    { limit = memoryLimits.agentsPageDefault, cursor, session }: Paging & { session?: SessionTokens | undefined },
  ): Promise<Page<AgentView>> {
    const max = memoryLimits.agentsPageMax;
    if (!Number.isInteger(limit) || limit < 1 || limit > max) throw invalid(`limit: must be a whole number from 1 to ${max}, got ${show(limit)}.`);
    let after = cursor === undefined ? "" : (this.#cursors.open(scope, list, cursor) as string);
    const items: AgentView[] = [];
    for (;;) {
      const next = await this.#next(scope, after, session);
      if (next === undefined) return { items, next_cursor: null };
      if (items.length === limit) return { items, next_cursor: this.#cursors.seal(scope, list, after) };
      after = next;
      const found = await this.#describe(scope, next);
      if (found !== undefined) items.push(found);
    }
  }

  async #next(scope: Scope, after: string, session: SessionTokens | undefined): Promise<string | undefined> {
    // Not only what is visible: an agent of whom nobody sees anything is leapt over like any other. Whose writes must be shown nobody knows yet.
    const item = await this.#store.first(scope, "", { index: "all", equals: { workspace_id: scope.tenant }, range: { gt: after } }, session);
    return item?.document["agent_id"] as string | undefined;
  }

  /** Undefined where there is nothing to be seen. */
  async #describe(scope: Scope, agentId: string): Promise<AgentView | undefined> {
    const [first, last] = await Promise.all([this.#end(scope, agentId, "asc"), this.#end(scope, agentId, "desc")]);
    if (first === undefined || last === undefined) return undefined;
    const at = (item: Item): string => item.document["timestamp"] as string;
    return { agent_id: agentId, first_message_at: at(first), last_message_at: at(last) };
  }

  async #end(scope: Scope, agentId: string, order: "asc" | "desc"): Promise<Item | undefined> {
    const query: Query = { index: "all", equals: { workspace_id: scope.tenant, agent_id: agentId }, order };
    const first = await this.#store.first(scope, agentId, query);
    if (first === undefined || (await this.#store.visible(scope, [first])).length > 0) return first;
    for await (const items of this.#store.pages(scope, agentId, query)) if (items[0] !== undefined) return items[0];
    return undefined;
  }
}
