/** Agents that have messages in a workspace. They have no records; they are derived from their messages. */
import type { Page, Paging } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, Query, SessionTokens } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { memoryLimits } from "./limits.ts";
import type { MemoryStore } from "./memory-store.ts";
import { SignedCursors } from "./signed-cursor.ts";

export interface AgentView {
  readonly agent_id: string;
  readonly first_message_at: string;
  readonly last_message_at: string;
}

/** Not "agents": that name signed cursors of another format. */
const list = ["agents", "places"];

/** The first or last visible message of an agent: its time, or the position up to which was searched. */
type End = { readonly at: string } | { readonly at?: undefined; readonly cursor?: string };
type Ends = readonly [first: End, last: End];
const notLookedFor: Ends = [{}, {}];

/** The position after an agent; or, with ends, within the messages of the next one. */
interface AgentCursor {
  readonly after: string;
  readonly agent?: string;
  readonly ends?: Ends;
}

export class Agents {
  readonly #store: MemoryStore;
  readonly #cursors: SignedCursors;

  constructor({ signingKey }: Pick<StateDependencies, "signingKey">, store: MemoryStore) {
    this.#store = store;
    this.#cursors = new SignedCursors(signingKey);
  }

  /**
   * Ordered by id, with a skip scan from agent to agent, so the number of messages does not matter. Invisible agents are skipped,
   * a bounded number per page: a page may be short, even empty, and still have a cursor.
   */
  async list(
    scope: Scope,
    { limit = memoryLimits.agentsPageDefault, cursor, session }: Paging & { session?: SessionTokens | undefined },
  ): Promise<Page<AgentView>> {
    const max = memoryLimits.agentsPageMax;
    if (!Number.isInteger(limit) || limit < 1 || limit > max)
      throw invalid(`limit: must be a whole number from 1 to ${max}, got ${show(limit)}.`);
    let {
      after,
      agent,
      ends = notLookedFor,
    } = cursor === undefined ? { after: "" } : (this.#cursors.open(scope, list, cursor) as unknown as AgentCursor);
    const items: AgentView[] = [];
    const left = { pages: memoryLimits.agentsMessagePagesMax };
    const until = (place: AgentCursor) => ({ items, next_cursor: this.#cursors.seal(scope, list, { ...place }) });
    for (let looked = 0; ; looked += 1) {
      agent ??= await this.#next(scope, after, session);
      if (agent === undefined) return { items, next_cursor: null };
      if (items.length === limit || looked === memoryLimits.lookedAtAgentsMax) return until({ after });
      const [first, last] = await this.#ends(scope, agent, ends, left);
      if (first !== undefined && last !== undefined && (first.at === undefined || last.at === undefined))
        return until({ after, agent, ends: [first, last] });
      // A message that both directions reached is first and last.
      const [from, to] = [first?.at ?? last?.at, last?.at ?? first?.at];
      if (from !== undefined && to !== undefined)
        items.push({ agent_id: agent, first_message_at: from, last_message_at: to });
      [after, agent, ends] = [agent, undefined, notLookedFor];
    }
  }

  async #next(scope: Scope, after: string, session: SessionTokens | undefined): Promise<string | undefined> {
    // Includes invisible messages: an agent without visible messages is skipped like any other. Which tokens apply is unknown here.
    const item = await this.#store.first(
      scope,
      "",
      { index: "all", equals: { workspace_id: scope.tenant }, range: { gt: after } },
      session,
    );
    return item?.document["agent_id"] as string | undefined;
  }

  /** Both directions are searched concurrently, and share the remaining page budget. */
  async #ends(
    scope: Scope,
    agentId: string,
    [first, last]: Ends,
    left: { pages: number },
  ): Promise<readonly [End | undefined, End | undefined]> {
    return Promise.all([this.#end(scope, agentId, "asc", first, left), this.#end(scope, agentId, "desc", last, left)]);
  }

  /** Undefined if no message is visible. */
  async #end(
    scope: Scope,
    agentId: string,
    order: "asc" | "desc",
    from: End,
    left: { pages: number },
  ): Promise<End | undefined> {
    if (from.at !== undefined) return from;
    const query: Query = { index: "all", equals: { workspace_id: scope.tenant, agent_id: agentId }, order };
    let { cursor } = from;
    if (cursor === undefined) {
      const first = await this.#store.first(scope, agentId, query);
      if (first === undefined) return undefined;
      if ((await this.#store.visible(scope, [first])).length > 0) return { at: timeOf(first) };
    }
    while (left.pages > 0) {
      left.pages -= 1;
      const page = await this.#store.page(scope, agentId, {
        ...query,
        limit: memoryLimits.agentsMessagePageItems,
        cursor,
      });
      const [seen] = page.items;
      if (seen !== undefined) return { at: timeOf(seen) };
      ({ cursor } = page);
      if (cursor === undefined) return undefined;
    }
    return cursor === undefined ? {} : { cursor };
  }
}

function timeOf({ document }: Item): string {
  return document["timestamp"] as string;
}
