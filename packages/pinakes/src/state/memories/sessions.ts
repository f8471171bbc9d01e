/** Sessions group the messages of an agent. They have no records; counts and sums are computed on demand. */
import type { Page, Paging, Session } from "@pinakes/client";
import { hasCode, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, SessionTokens } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { memoryLimits } from "./limits.ts";
import { noSession, requireName, type MemoryStore } from "./memory-store.ts";
import { removeMessages } from "./remove-messages.ts";
import type { SessionCare } from "./session-care.ts";
import { isHidden } from "./session-record.ts";
import { SignedCursors } from "./signed-cursor.ts";

const attemptsMax = 20;

export class Sessions {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;
  readonly #care: SessionCare;
  readonly #cursors: SignedCursors;

  constructor(deps: StateDependencies, store: MemoryStore, care: SessionCare) {
    this.#deps = deps;
    this.#store = store;
    this.#care = care;
    this.#cursors = new SignedCursors(deps.signingKey);
  }

  /** Ordered by id, with a skip scan from session to session, so their length does not matter. */
  async list(
    scope: Scope,
    agentId: string,
    { limit = memoryLimits.sessionsPageDefault, cursor, session }: Paging & { session?: SessionTokens | undefined },
  ): Promise<Page<Session>> {
    const max = memoryLimits.sessionsPageMax;
    if (!Number.isInteger(limit) || limit < 1 || limit > max)
      throw invalid(`limit: must be a whole number from 1 to ${max}, got ${show(limit)}.`);
    const list = ["sessions", agentId];
    let after = cursor === undefined ? "" : (this.#cursors.open(scope, list, cursor) as string);
    const items: Session[] = [];
    for (;;) {
      const next = await this.#next(scope, agentId, after, session);
      if (next === undefined) return { items, next_cursor: null };
      if (items.length === limit) return { items, next_cursor: this.#cursors.seal(scope, list, after) };
      after = next;
      const found = await this.#describe(scope, agentId, next);
      if (found !== undefined) items.push(found);
    }
  }

  /** With its token total, which requires reading all its messages. */
  async get(scope: Scope, agentId: string, sessionId: string): Promise<Session> {
    requireName(sessionId, "session_id");
    const found = await this.#describe(scope, agentId, sessionId);
    if (found === undefined) throw noSession(agentId, sessionId);
    let token_count = 0;
    for await (const items of this.#store.pages(scope, agentId, inSession(agentId, sessionId)))
      for (const { document } of items) token_count += document["token_count"] as number;
    return { ...found, token_count };
  }

  /** Removes all messages in bounded steps; idempotent. A session that expires as a whole, or was forked, is invisible from the first step on. */
  async delete(scope: Scope, agentId: string, sessionId: string): Promise<{ readonly deleted: number }> {
    requireName(sessionId, "session_id");
    let deleted = 0;
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.#store.session(scope, agentId, sessionId);
      if (known === undefined) break;
      try {
        await this.#care.register(scope, agentId, sessionId, this.#deps.clock.now());
        const gone =
          known.record.state === "deleting"
            ? known
            : await this.#care.turn(scope, agentId, sessionId, known, "deleting");
        deleted += await this.#care.finish(scope, agentId, sessionId, gone);
      } catch (error) {
        // Appended to, or deleted, concurrently.
        const changed = hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND");
        if (!changed || attempt >= attemptsMax) throw error;
      }
    }
    for await (const items of this.#store.exact(scope, agentId, sessionId))
      deleted += await removeMessages(this.#store, scope, agentId, { ids: items.map(({ id }) => id) });
    return { deleted };
  }

  async #next(
    scope: Scope,
    agentId: string,
    after: string,
    session: SessionTokens | undefined,
  ): Promise<string | undefined> {
    // Includes invisible messages: an invisible session is skipped like any other.
    const item = await this.#store.first(
      scope,
      agentId,
      { index: "bySession", equals: { agent_id: agentId }, range: { gt: after } },
      session,
    );
    return item?.document["session_id"] as string | undefined;
  }

  /** Undefined if no message is visible. */
  async #describe(scope: Scope, agentId: string, sessionId: string): Promise<Session | undefined> {
    const [first, last] = await Promise.all([
      this.#end(scope, agentId, sessionId, "asc"),
      this.#end(scope, agentId, sessionId, "desc"),
    ]);
    if (first === undefined || last === undefined) return undefined;
    const known = await this.#store.session(scope, agentId, sessionId);
    const seen = known !== undefined && !isHidden(known.record, this.#deps.clock.now()) ? known.record : undefined;
    return {
      agent_id: agentId,
      session_id: sessionId,
      message_count: await this.#store.countSession(scope, agentId, sessionId),
      token_count: null,
      first_message_at: first.document["timestamp"] as string,
      last_message_at: last.document["timestamp"] as string,
      ...(seen?.forked_from === undefined ? {} : { forked_from: seen.forked_from }),
      ttl_unit: seen?.ttl_unit ?? "message",
    };
  }

  async #end(scope: Scope, agentId: string, sessionId: string, order: "asc" | "desc"): Promise<Item | undefined> {
    const first = await this.#store.first(scope, agentId, { ...inSession(agentId, sessionId), order });
    if (first === undefined || (await this.#store.visible(scope, [first])).length > 0) return first;
    for await (const items of this.#store.pages(scope, agentId, { ...inSession(agentId, sessionId), order }))
      if (items[0] !== undefined) return items[0];
    return undefined;
  }
}

function inSession(agentId: string, sessionId: string) {
  return { index: "bySession", equals: { agent_id: agentId, session_id: sessionId } } as const;
}
