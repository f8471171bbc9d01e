/**
 * Maintenance of sessions with a companion: sessions that expire as a whole are removed when due, unfinished forks
 * are removed, and so is a companion without messages. `state-work` has an entry for each of them until then.
 */
import type { RegisteredWork } from "../../containers/index.ts";
import { days } from "../../containers/index.ts";
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import type { MemoryStore } from "./memory-store.ts";
import { removeMessages } from "./remove-messages.ts";
import { forkField } from "./schema.ts";
import {
  isEnded,
  isHidden,
  sessionDocument,
  sessionRecordId,
  type KnownSession,
  type SessionRecord,
} from "./session-record.ts";

/** An entry is written before the companion; it counts as a leftover only after this grace period. */
const graceMs = 10 * 60_000;
/** A fork that is unfinished by then is removed; repeating it starts over. */
const forkMsMax = 60 * 60_000;
const lookAgainMs = days(30) * 1_000;

export class SessionCare {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;

  constructor(deps: StateDependencies, store: MemoryStore) {
    this.#deps = deps;
    this.#store = store;
  }

  /** Before the companion is written: whatever has an entry is cleaned up after any crash. */
  async register({ tenant }: Scope, agentId: string, sessionId: string, dueAt: number): Promise<void> {
    const data = { agent_id: agentId, session_id: sessionId };
    await this.#deps.work.put({
      kind: "session",
      tenant,
      key: JSON.stringify([agentId, sessionId]),
      due_at: dueAt,
      data,
    });
  }

  async registerFork(scope: Scope, agentId: string, sessionId: string): Promise<void> {
    await this.register(scope, agentId, sessionId, this.#deps.clock.now() + forkMsMax);
  }

  async process(entry: RegisteredWork): Promise<void> {
    const { agent_id: agentId, session_id: sessionId } = entry.data as { agent_id: string; session_id: string };
    const scope = this.#deps.system.forTenant(entry.tenant);
    const now = this.#deps.clock.now();
    const known = await this.#store.session(scope, agentId, sessionId);
    if (known === undefined) {
      if (now >= entry.due_at + graceMs) await this.#forget(entry);
      return;
    }
    const { record } = known;
    if (!isHidden(record, now)) {
      if (record.expires_at !== undefined) return this.register(scope, agentId, sessionId, record.expires_at);
      // A fork whose messages expire individually: its companion is needed as long as one of them exists.
      if (!(await this.#store.isEmpty(scope, agentId, sessionId)))
        return this.register(scope, agentId, sessionId, now + lookAgainMs);
    }
    await this.finish(scope, agentId, sessionId, known);
    // Otherwise another process was faster, or the session was revived: the next sweep re-evaluates it.
    if ((await this.#store.session(scope, agentId, sessionId)) === undefined) await this.#forget(entry);
  }

  /**
   * Removes the invisible messages, then the companion. Concurrent calls do the same; if the
   * companion changed concurrently, another process has finished and this one stops.
   */
  async finish(scope: Scope, agentId: string, sessionId: string, known: KnownSession): Promise<number> {
    let removed = 0;
    try {
      // First prevents further copies: otherwise a copy could lose its companion and become visible.
      const fenced =
        known.record.state === "forking" ? await this.turn(scope, agentId, sessionId, known, "abandoned") : known;
      const goes = this.#goes(fenced);
      const guard = { op: "check", id: sessionRecordId(sessionId), ifMatch: fenced.etag } as const;
      for await (const items of this.#store.exact(scope, agentId, sessionId)) {
        const ids = items.filter((item) => goes(item.document)).map(({ id }) => id);
        removed += await removeMessages(this.#store, scope, agentId, { ids, guard });
      }
      await this.#drop(scope, agentId, sessionId, fenced);
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
    }
    return removed;
  }

  /** A transition, if the current state is as expected. */
  async turn(
    scope: Scope,
    agentId: string,
    sessionId: string,
    { record, etag }: KnownSession,
    state: SessionRecord["state"],
  ): Promise<KnownSession> {
    const next = { ...record, state };
    const { results } = await this.#store.batch(scope, agentId, [
      { op: "replace", document: sessionDocument(agentId, sessionId, next), ifMatch: etag },
    ]);
    return { record: next, etag: results[0]?.etag as string };
  }

  #goes({ record }: KnownSession): (document: Item["document"]) => boolean {
    if (record.state === "deleting") return () => true;
    if (record.state === "abandoned") return (document) => document[forkField] === record.fork_id;
    return (document) => isEnded(record, this.#deps.clock.now()) && document["ttl_unit"] === "session";
  }

  async #drop(scope: Scope, agentId: string, sessionId: string, { etag }: KnownSession): Promise<void> {
    await this.#store.batch(scope, agentId, [{ op: "delete", id: sessionRecordId(sessionId), ifMatch: etag }]);
  }

  async #forget(entry: RegisteredWork): Promise<void> {
    await this.#deps.work.remove(entry as RegisteredWork<"session">);
  }
}
