/**
 * The companion of a session: an item `~session-…` beside its messages. Only sessions that end as a unit, or were forked, have one;
 * all others are nothing but their messages.
 *
 * Invariants
 * - every message that depends on a companion says so (`ttl_unit: "session"`, or our mark of a fork), so that readers of all other
 *   messages need not look;
 * - a companion is there before such messages are, or in the same batch, and is removed after the last of them: there is never a
 *   message whose companion is missing and that somebody should not see;
 * - every append holds the companion, or its absence, in its batch: nothing comes into a session that ends, is being made or removed.
 */
import { createHash } from "node:crypto";
import type { Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { forkField } from "./schema.ts";

/** Where a message stands in its session. */
export interface MessagePosition {
  readonly timestamp: string;
  readonly order: number | null;
  readonly id: string;
}

export interface SessionRecord {
  /** `forking`: copies are being made, nobody sees them; `abandoned`: those copies are being removed; `deleting`: everything is. */
  readonly state: "ready" | "forking" | "abandoned" | "deleting";
  readonly ttl_unit: "message" | "session";
  /** Of a session that ends as a unit; -1: never. */
  readonly ttl_seconds?: number;
  /** Epoch milliseconds, `ttl_seconds` after the last message. */
  readonly expires_at?: number;
  readonly forked_from?: string;
  /** Marks the copies of this fork. */
  readonly fork_id?: string;
  /** The last message that is copied, as the caller named it; absent: all that there were. */
  readonly up_to?: string;
  readonly until?: MessagePosition;
}

export interface KnownSession {
  readonly record: SessionRecord;
  readonly etag: string;
}

const ordinary = /^[\w.:-]{1,200}$/;

/** Of names that ids cannot hold, a hash; its sign cannot be confused with a name. */
export function sessionRecordId(sessionId: string): string {
  if (ordinary.test(sessionId)) return `${reservedIdPrefix}session-${sessionId}`;
  return `${reservedIdPrefix}session~${createHash("sha256").update(sessionId).digest("hex")}`;
}

/** `session`, not `session_id`: no index of messages shall show it. It never expires by itself, because it is removed last. */
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

/** Whether a message must be asked after at its session's companion. */
export function dependsOnSession(document: JsonObject): boolean {
  return document["ttl_unit"] === "session" || document[forkField] !== undefined;
}

/** The opposite, for the store. */
export const independent: Filter = { ttl_unit: { ne: "session" }, [forkField]: { exists: false } };

export function isEnded({ expires_at }: SessionRecord, now: number): boolean {
  return expires_at !== undefined && expires_at <= now;
}

/** Whether nobody sees the messages that depend on it. */
export function isHidden(record: SessionRecord, now: number): boolean {
  return record.state !== "ready" || isEnded(record, now);
}
