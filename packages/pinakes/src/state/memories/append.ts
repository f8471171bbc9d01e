/**
 * Appends messages in one atomic batch. Besides the messages it contains their conditions: that
 * parents exist, and for each session its companion, or that it has none.
 */
import type { AppendOptions, Memory, Stored } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { memoriesTtlSeconds } from "./agent-memories.ts";
import { derivedId, planAppend, type AppendPlan } from "./append-plan.ts";
import { memoryLimits } from "./limits.ts";
import type { MemoryStore } from "./memory-store.ts";
import { orderField, viewOf } from "./schema.ts";
import type { SessionCare } from "./session-care.ts";
import { isHidden, sessionDocument, sessionRecordId, type KnownSession, type SessionRecord } from "./session-record.ts";

const attemptsMax = 20;
/** Sessions known to have a companion, so that the next append reads it first. Only a hint. */
const hintsMax = 1_000;

/** How a session accepts messages: the operation on its state, and the time to live of the messages; undefined: their own. */
interface SessionHold {
  readonly operation: Operation;
  readonly unitSeconds: number | undefined;
}

export class Appender {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;
  readonly #care: SessionCare;
  readonly #hints = new Set<string>();
  #lastOrder = 0;

  constructor(deps: StateDependencies, store: MemoryStore, care: SessionCare) {
    this.#deps = deps;
    this.#store = store;
    this.#care = care;
  }

  async append(
    caller: Caller,
    agentId: string,
    inputs: readonly unknown[],
    options: AppendOptions = {},
  ): Promise<readonly Stored<Memory>[]> {
    const { scope } = caller;
    const now = this.#deps.clock.now();
    const plan = planAppend(agentId, inputs, { caller, now, options });
    const parents = options.allowDangling === true ? [] : plan.parents;
    const orders = plan.messages.map(() => this.#nextOrder(now));
    const sessions = [...new Set(plan.messages.map(({ sessionId }) => sessionId))];
    requireRoom(plan, sessions.length + parents.length);
    if (parents.length > 0) await this.#requireParents(scope, agentId, parents);
    for (let attempt = 1; ; attempt += 1) {
      const holds = new Map<string, SessionHold>();
      for (const session of sessions) holds.set(session, await this.#hold(scope, plan, session, attempt > 1));
      const documents = plan.messages.map(({ sessionId, document }, i) =>
        stored(document, holds.get(sessionId)?.unitSeconds, orders[i] as number),
      );
      const operations: Operation[] = [
        ...[...holds.values()].map(({ operation }) => operation),
        ...parents.map((id): Operation => ({ op: "check", id })),
        ...documents.map((document): Operation => ({ op: "create", document })),
      ];
      try {
        const { results } = await this.#store.batch(scope, agentId, operations);
        return documents.map((document, i) => {
          const { etag, modifiedAt } = results[operations.length - documents.length + i] ?? {};
          return viewOf({ document, etag: etag as string, modifiedAt: modifiedAt as number });
        });
      } catch (error) {
        const told = await this.#settle(caller, plan, error, { holds: holds.size, parents });
        if (told !== undefined) return told;
        for (const session of sessions) this.#hint(scope, agentId, session);
        if (attempt >= attemptsMax) throw error;
      }
    }
  }

  /** Monotonic, in call order, also within one millisecond. */
  #nextOrder(now: number): number {
    this.#lastOrder = Math.max(this.#lastOrder + 1, now * 1_000);
    return this.#lastOrder;
  }

  async #requireParents(scope: Scope, agentId: string, parents: readonly string[]): Promise<void> {
    const found = await this.#store.readMany(
      scope,
      parents.map((id) => ({ agentId, id })),
    );
    const missing = parents.find((_, i) => found[i] === undefined);
    if (missing !== undefined) throw noParent(missing);
  }

  async #hold(
    scope: Scope,
    { agentId, unit, messages }: AppendPlan,
    sessionId: string,
    look: boolean,
  ): Promise<SessionHold> {
    const id = sessionRecordId(sessionId);
    const absent: SessionHold = { operation: { op: "check", id, exists: false }, unitSeconds: undefined };
    if (unit === undefined && !look && !this.#hints.has(hintOf(scope, agentId, sessionId))) return absent;
    const known = await this.#live(scope, agentId, sessionId);
    const ttls = messages
      .filter((message) => message.sessionId === sessionId)
      .map(({ document }) => document["ttl"] as number | undefined);
    if (known !== undefined) return this.#holdKnown(known, sessionId, { unit, ttls });
    if (unit !== "session") return absent;
    if (!(await this.#store.isEmpty(scope, agentId, sessionId)))
      throw new PinakesError(
        "CONFLICT",
        `ttl_unit: the messages of session ${show(sessionId)} expire one by one; only its first message decides.`,
      );
    return this.#begin(scope, agentId, sessionId, ttls);
  }

  /** The current companion; an expired session is cleaned up first, so that old messages do not reappear with new ones. */
  async #live(scope: Scope, agentId: string, sessionId: string): Promise<KnownSession | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.#store.session(scope, agentId, sessionId);
      if (known === undefined || !isHidden(known.record, this.#deps.clock.now())) return known;
      if (known.record.state === "forking")
        throw new PinakesError(
          "CONFLICT",
          `Session ${show(sessionId)} is being created by a fork; wait for it, repeat the fork, or delete the session.`,
        );
      if (attempt >= attemptsMax)
        throw new PinakesError("UNAVAILABLE", `Session ${show(sessionId)} is being removed; try again.`);
      await this.#care.finish(scope, agentId, sessionId, known);
    }
  }

  #holdKnown(
    { record }: KnownSession,
    sessionId: string,
    { unit, ttls }: { unit: AppendPlan["unit"]; ttls: readonly (number | undefined)[] },
  ): SessionHold {
    const id = sessionRecordId(sessionId);
    if (unit !== undefined && unit !== record.ttl_unit)
      throw new PinakesError(
        "CONFLICT",
        `ttl_unit: session ${show(sessionId)} is "${record.ttl_unit}", as its first message decided.`,
      );
    const { ttl_seconds: unitSeconds } = record;
    if (unitSeconds === undefined) return { operation: { op: "check", id, where: { state: "ready" } }, unitSeconds };
    requireSameTtl(ttls, unitSeconds, sessionId);
    if (unitSeconds === -1) return { operation: { op: "check", id, where: { state: "ready" } }, unitSeconds };
    const now = this.#deps.clock.now();
    const patch = [{ op: "set", path: "/expires_at", value: now + unitSeconds * 1_000 }] as const;
    return { operation: { op: "patch", id, patch, where: { state: "ready", expires_at: { gt: now } } }, unitSeconds };
  }

  /** A new session that expires as a whole. */
  async #begin(
    scope: Scope,
    agentId: string,
    sessionId: string,
    ttls: readonly (number | undefined)[],
  ): Promise<SessionHold> {
    const unitSeconds = ttls[0] ?? memoriesTtlSeconds;
    requireSameTtl(ttls, unitSeconds, sessionId);
    const expires_at = this.#deps.clock.now() + unitSeconds * 1_000;
    const record: SessionRecord = {
      state: "ready",
      ttl_unit: "session",
      ttl_seconds: unitSeconds,
      ...(unitSeconds === -1 ? {} : { expires_at }),
    };
    if (unitSeconds !== -1) await this.#care.register(scope, agentId, sessionId, expires_at);
    return { operation: { op: "create", document: sessionDocument(agentId, sessionId, record) }, unitSeconds };
  }

  /** Interprets a failed batch: a result, an error, or undefined if the sessions must be read again and the append retried. */
  async #settle(
    caller: Caller,
    plan: AppendPlan,
    error: unknown,
    { holds, parents }: { readonly holds: number; readonly parents: readonly string[] },
  ): Promise<readonly Stored<Memory>[] | undefined> {
    const index = PinakesError.isInstance(error) ? error.context.batch?.index : undefined;
    if (!PinakesError.isInstance(error) || index === undefined) throw error;
    const expected = error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND" || error.code === "CONFLICT";
    if (!expected) throw error;
    if (index < holds) return undefined;
    if (index < holds + parents.length) throw noParent(parents[index - holds] as string);
    const { id } = plan.messages[index - holds - parents.length] ?? {};
    if (plan.key !== undefined) return this.#repeated(caller, plan, plan.key);
    throw new PinakesError(
      "CONFLICT",
      `Message ${show(id)} of agent ${show(plan.agentId)} already exists; use another id, or omit it.`,
    );
  }

  /** A retry of an earlier call: its messages are the result, unless the key was used for other content. */
  async #repeated(caller: Caller, plan: AppendPlan, key: string): Promise<readonly Stored<Memory>[]> {
    const { agentId, messages } = plan;
    const ids = [...messages.map(({ id }) => id), derivedId(caller, agentId, key, messages.length)];
    const found = await this.#store.readMany(
      caller.scope,
      ids.map((id) => ({ agentId, id })),
    );
    const same = messages.every(({ document }, i) =>
      ["session_id", "message_type", "parent_message_id"].every((name) => found[i]?.document[name] === document[name]),
    );
    if (!same || found[messages.length] !== undefined)
      throw new PinakesError(
        "CONFLICT",
        `idempotencyKey: ${show(key)} was used for other messages, or for messages that were deleted; use a new key.`,
      );
    return found.flatMap((item) => (item === undefined ? [] : [viewOf(item)]));
  }

  #hint(scope: Scope, agentId: string, sessionId: string): void {
    if (this.#hints.size >= hintsMax) this.#hints.clear();
    this.#hints.add(hintOf(scope, agentId, sessionId));
  }
}

function stored(document: JsonObject, unitSeconds: number | undefined, order: number): JsonObject {
  const { ttl_unit: _, ...rest } = document;
  return unitSeconds === undefined
    ? { ...rest, [orderField]: order }
    : { ...rest, ttl: -1, ttl_unit: "session", [orderField]: order };
}

function hintOf({ tenant }: Scope, agentId: string, sessionId: string): string {
  return JSON.stringify([tenant, agentId, sessionId]);
}

function requireRoom({ messages }: AppendPlan, checks: number): void {
  const max = memoryLimits.batchOperationsMax;
  if (messages.length + checks <= max) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `${messages.length} messages with ${checks} different sessions and outside parents; together at most ${max} are written at once. Send them in several calls.`,
  );
}

function requireSameTtl(ttls: readonly (number | undefined)[], unitSeconds: number, sessionId: string): void {
  if (ttls.every((ttl) => ttl === undefined || ttl === unitSeconds || ttl === -1)) return;
  throw invalid(
    `ttl: session ${show(sessionId)} expires as a whole, ${unitSeconds} s after its last message; leave ttl out of its messages.`,
  );
}

function noParent(id: string): PinakesError {
  return invalid(
    `parent_message_id: there is no message ${show(id)} of this agent; append it first, or use allowDangling.`,
  );
}
