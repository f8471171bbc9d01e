/**
 * Forks: a session's messages, up to one of them, copied into a new session.
 *
 * The companion of the new session is written first, in state `forking`; until it is `ready` the copies are invisible, and appends are rejected.
 * It stores where the copying ends and the prefix of the copies, so a repeated call resumes the same fork: after a
 * crash, either the fork is completed or, an hour later, removed.
 */
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { utf8Bytes, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { isBatchConflict } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { derivedMessageId } from "./derived-id.ts";
import { memoryLimits } from "./limits.ts";
import { comparePlaces, noMessage, noSession, placeOf, requireName, type MemoryStore } from "./memory-store.ts";
import { forkField } from "./schema.ts";
import type { SessionCare } from "./session-care.ts";
import {
  isHidden,
  sessionDocument,
  sessionRecordId,
  type KnownSession,
  type MessagePosition,
  type SessionRecord,
} from "./session-record.ts";

interface ForkInput {
  readonly agentId: string;
  readonly from: string;
  readonly to: string;
  readonly upTo: string | undefined;
}

const attemptsMax = 20;

export class Forks {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;
  readonly #care: SessionCare;

  constructor(deps: StateDependencies, store: MemoryStore, care: SessionCare) {
    this.#deps = deps;
    this.#store = store;
    this.#care = care;
  }

  async fork(scope: Scope, input: ForkInput): Promise<void> {
    requireName(input.from, "session_id");
    requireName(input.to, "session_id");
    if (input.from === input.to) throw invalid(`session_id: a fork needs a new session, not ${show(input.to)} itself.`);
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.#begin(scope, input);
      if (known.record.state === "ready") return;
      try {
        await this.#copy(scope, input, known);
        return await this.#finish(scope, input, known);
      } catch (error) {
        // The same fork runs concurrently, or was removed: read again.
        if (!isBatchConflict(error) || attempt >= attemptsMax) throw error;
      }
    }
  }

  /** The companion of the new session: that of an earlier, equal call, or a new one. */
  async #begin(scope: Scope, input: ForkInput): Promise<KnownSession> {
    const { agentId, to } = input;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const known = await this.#store.session(scope, agentId, to);
      const over =
        known !== undefined && known.record.state !== "forking" && isHidden(known.record, this.#deps.clock.now());
      if (known !== undefined && !over && isSameFork(known.record, input)) {
        if (known.record.state === "forking") await this.#care.registerFork(scope, agentId, to);
        return known;
      }
      if (over) {
        await this.#care.finish(scope, agentId, to, known);
        continue;
      }
      const until = await this.#until(scope, input);
      if (known !== undefined || !(await this.#store.isEmpty(scope, agentId, to))) throw taken(to);
      const made = await this.#create(scope, input, until);
      if (made !== undefined) return made;
    }
    throw new PinakesError("UNAVAILABLE", `Session ${show(to)} is being created or removed concurrently; try again.`);
  }

  async #create(
    scope: Scope,
    { agentId, from, to, upTo }: ForkInput,
    until: MessagePosition,
  ): Promise<KnownSession | undefined> {
    const source = await this.#store.session(scope, agentId, from);
    const { ttl_unit = "message", ttl_seconds } = source?.record ?? {};
    const record: SessionRecord = {
      state: "forking",
      ttl_unit,
      ...(ttl_seconds === undefined ? {} : { ttl_seconds }),
      forked_from: from,
      fork_id: this.#deps.newId(),
      ...(upTo === undefined ? {} : { up_to: upTo }),
      until,
    };
    await this.#care.registerFork(scope, agentId, to);
    let known: KnownSession;
    try {
      const { results } = await this.#store.batch(scope, agentId, [
        { op: "create", document: sessionDocument(agentId, to, record) },
      ]);
      known = { record, etag: results[0]?.etag as string };
    } catch (error) {
      if (hasCode(error, "CONFLICT")) return undefined;
      throw error;
    }
    // From here on no other writer appends to it. A session created between the check and the write wins.
    if (await this.#store.isEmpty(scope, agentId, to)) return known;
    await this.#care.finish(scope, agentId, to, known);
    throw taken(to);
  }

  /** The end of the copy: the given message, or the last one. */
  async #until(scope: Scope, { agentId, from, upTo }: ForkInput): Promise<MessagePosition> {
    if (upTo !== undefined) {
      const item = await this.#store.read(scope, agentId, upTo);
      if (item?.document["session_id"] !== from) throw noMessage(agentId, upTo);
      return placeOf(item);
    }
    let last: MessagePosition | undefined;
    for await (const item of this.#source(scope, agentId, from))
      if (last === undefined || comparePlaces(placeOf(item), last) > 0) last = placeOf(item);
    if (last === undefined) throw noSession(agentId, from);
    return last;
  }

  async *#source(scope: Scope, agentId: string, from: string): AsyncGenerator<Item, void> {
    for await (const items of this.#store.exact(scope, agentId, from)) yield* await this.#store.visible(scope, items);
  }

  async #copy(scope: Scope, { agentId, from, to }: ForkInput, { record, etag }: KnownSession): Promise<void> {
    const until = record.until as MessagePosition;
    const copied = new Set<string>();
    for await (const item of this.#source(scope, agentId, from))
      if (comparePlaces(placeOf(item), until) <= 0) copied.add(item.id);
    const guard: Operation = { op: "check", id: sessionRecordId(to), ifMatch: etag };
    let pending: JsonObject[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const there = await this.#store.existing(
        scope,
        agentId,
        pending.map(({ id }) => id as string),
      );
      const missing = pending.filter(({ id }) => !there.has(id as string));
      [pending, bytes] = [[], 0];
      if (missing.length > 0)
        await this.#store.batch(scope, agentId, [
          guard,
          ...missing.map((document): Operation => ({ op: "create", document })),
        ]);
    };
    for await (const item of this.#source(scope, agentId, from)) {
      if (!copied.has(item.id)) continue;
      const copy = this.#copyOf(item, { to, record, copied });
      const size = utf8Bytes(JSON.stringify(copy));
      if (pending.length >= memoryLimits.appendMessagesMax || bytes + size > limits.batchBytesMax) await flush();
      pending.push(copy);
      bytes += size;
    }
    await flush();
  }

  #copyOf(
    { id, document }: Item,
    { to, record, copied }: { to: string; record: SessionRecord; copied: ReadonlySet<string> },
  ): JsonObject {
    const parent = document["parent_message_id"] as string | null;
    return {
      ...document,
      id: copyId(record, id),
      session_id: to,
      parent_message_id: parent !== null && copied.has(parent) ? copyId(record, parent) : parent,
      created_at: new Date(this.#deps.clock.now()).toISOString(),
      [forkField]: record.fork_id,
    };
  }

  async #finish(scope: Scope, { agentId, to }: ForkInput, { record, etag }: KnownSession): Promise<void> {
    const { ttl_seconds } = record;
    const ends =
      ttl_seconds === undefined || ttl_seconds === -1
        ? {}
        : { expires_at: this.#deps.clock.now() + ttl_seconds * 1_000 };
    const document = sessionDocument(agentId, to, { ...record, ...ends, state: "ready" });
    await this.#store.batch(scope, agentId, [{ op: "replace", document, ifMatch: etag }]);
  }
}

function isSameFork({ forked_from, up_to }: SessionRecord, { from, upTo }: ForkInput): boolean {
  return forked_from === from && up_to === upTo;
}

/** Deterministic for this fork, and different in every other fork. */
function copyId({ fork_id }: SessionRecord, id: string): string {
  return derivedMessageId(["fork", fork_id as string, id]);
}

function taken(sessionId: string): PinakesError {
  return new PinakesError("CONFLICT", `Session ${show(sessionId)} already exists; fork into a new one.`);
}
