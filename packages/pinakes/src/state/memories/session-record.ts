/**
 * The companion of a session: an item `~session-…` beside its messages. Only sessions that expire as a whole, or were forked, have one;
 * all others consist of their messages only.
 *
 * Invariants
 * - every message that depends on a companion is marked (`ttl_unit: "session"`, or the internal mark of a fork), so that readers of other
 *   messages need not read it;
 * - a companion is written before such messages, or in the same batch, and removed after the last of them: there is never a
 *   message that should be invisible but lacks its companion;
 * - every append has the companion, or its absence, as a condition in its batch: a session that expires, is forked or removed accepts no messages.
 */
import { createHash } from "node:crypto";
import type { Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { forkField } from "./schema.ts";

/** The position of a message in its session. */
export interface MessagePosition {
  readonly timestamp: string;
  readonly order: number | null;
  readonly id: string;
}

export interface SessionRecord {
  /** `forking`: copies are being written and invisible; `abandoned`: the copies are being removed; `deleting`: the session is. */
  readonly state: "ready" | "forking" | "abandoned" | "deleting";
  readonly ttl_unit: "message" | "session";
  /** Of a session that expires as a whole; -1: never. */
  readonly ttl_seconds?: number;
  /** Epoch milliseconds, `ttl_seconds` after the last message. */
  readonly expires_at?: number;
  readonly forked_from?: string;
  /** Marks the copies of this fork. */
  readonly fork_id?: string;
  /** The last message to copy, as given by the caller; absent: all. */
  readonly up_to?: string;
  readonly until?: MessagePosition;
}

export interface KnownSession {
  readonly record: SessionRecord;
  readonly etag: string;
}

const ordinary = /^[\w.:-]{1,200}$/;

/** A hash for names that are not valid ids; its prefix cannot occur in a name. */
export function sessionRecordId(sessionId: string): string {
  if (ordinary.test(sessionId)) return `${reservedIdPrefix}session-${sessionId}`;
  return `${reservedIdPrefix}session~${createHash("sha256").update(sessionId).digest("hex")}`;
}

/** `session`, not `session_id`: it must not appear in indexes of messages. It has no ttl, because it is removed last. */
export function sessionDocument(agentId: string, sessionId: string, record: SessionRecord): JsonObject {
  const fields = record as unknown as JsonObject;
  return {
    id: sessionRecordId(sessionId),
    agent_id: agentId,
    [companionField]: "session",
    session: sessionId,
    ...fields,
    ttl: -1,
  };
}

export function readSessionRecord(document: JsonObject): SessionRecord {
  const { id: _id, agent_id: _agent, [companionField]: _companion, session: _session, ttl: _ttl, ...record } = document;
  return record as unknown as SessionRecord;
}

/** Whether the visibility of a message depends on its session's companion. */
export function dependsOnSession(document: JsonObject): boolean {
  return document["ttl_unit"] === "session" || document[forkField] !== undefined;
}

/** The inverse, as a store condition. */
export const independent: Filter = { ttl_unit: { ne: "session" }, [forkField]: { exists: false } };

export function isEnded({ expires_at }: SessionRecord, now: number): boolean {
  return expires_at !== undefined && expires_at <= now;
}

/** Whether the messages that depend on it are invisible. */
export function isHidden(record: SessionRecord, now: number): boolean {
  return record.state !== "ready" || isEnded(record, now);
}
