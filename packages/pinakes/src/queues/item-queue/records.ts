/**
 * What a queue stores in the container `queues` (RFC 0004). A group is one partition, so that each step is one batch:
 *
 *   g                    the group: counters, its head, the lease on the head
 *   m.<order>.<nonce>    messages that wait or are in flight; the first one is the head
 *   d.<order>.<nonce>    dead letters, and for 7 days the tombstone of a redriven one
 *   u.<hash of dedupId>  which message has a dedupId; expires 7 days after the message is gone
 *
 * Invariants, asserted before each write and after each read of a group
 * - every change of a partition changes its group record, so a group's etag covers the whole partition;
 * - there is a head exactly when there are messages, and it is the one with the lowest order;
 * - only the head is leased, and a group without messages is not in the index `ready`.
 */
import { createHash } from "node:crypto";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ContainerDefinition, Partition } from "../../ports/item-store.ts";
import type { Origin } from "../../ports/queue.ts";

export const queueContainer: ContainerDefinition = {
  name: "queues",
  partitionKey: ["queue", "part"],
  indexes: {
    /** Groups with messages, by when their head is due. Only finds candidates; the partition decides. */
    ready: { partition: ["work"], sort: ["readyAt"] },
    dead: { partition: ["deadIn"], sort: ["deadAt"] },
  },
  ttl: -1,
};

const formatVersion = 1;
const daySeconds = 86_400;
/** A group without messages and dead letters is removed; longer than any dedup record lives. */
const idleGroupSeconds = 30 * daySeconds;
/** How long a dedupId, and a redrive, is remembered after the message is gone. */
export const rememberedSeconds = 7 * daySeconds;
const orderDigits = 16;

export interface GroupKey {
  readonly queue: string;
  readonly group: string;
}

export interface Group extends GroupKey {
  /** The order number of the next message. */
  readonly next: number;
  /** Messages that are neither done nor dead. */
  readonly count: number;
  readonly dead: number;
  /** Grows with every lease. */
  readonly epoch: number;
  /** Whether the sweep knows this group (registry.ts). */
  readonly registered: boolean;
  readonly head?: Head;
  readonly lease?: Lease;
  /** The last ending, so that it can be repeated after a lost answer. */
  readonly settled?: { readonly nonce: string; readonly as: Ending };
}
export type Ending = "done" | "failed" | "released";

/** Failures are counted here, since only the head is ever processed: an attempt need not rewrite the message. */
export interface Head {
  readonly id: string;
  readonly sentAt: number;
  readonly readyAt: number;
  readonly failures: number;
  readonly losses: number;
  readonly reason?: string;
  readonly dedupId?: string;
}

export interface Lease {
  readonly owner: string;
  readonly epoch: number;
  readonly nonce: string;
  readonly until: number;
  readonly ms: number;
}

export interface Message {
  readonly id: string;
  readonly body: JsonValue;
  readonly sentAt: number;
  readonly readyAt: number;
  readonly dedupId?: string;
  readonly origin?: Origin;
}

export const groupId = "g";
export const messageItem = (id: string): string => `m.${id}`;
export const deadItem = (id: string): string => `d.${id}`;
export const dedupItem = (dedupId: string): string => `u.${idOf(dedupId)}`;
/** An item id for any text: ids cannot contain control characters or slashes, groups and dedupIds can. */
export const idOf = (text: string): string => createHash("sha256").update(text, "utf8").digest("base64url");
/** Sorts after every message. */
export const messagesEnd = "n";

export function partitionOf({ queue, group }: GroupKey): Partition {
  return [queue, partOf(group)];
}

/** Prefixed, so that no group collides with the registry. */
export function partOf(group: string): string {
  return `g:${group}`;
}

export function messageId(order: number, nonce: string): string {
  return `${String(order).padStart(orderDigits, "0")}.${nonce}`;
}

/** Sorts as a string. */
export function orderOf(id: string): string {
  return id.slice(0, orderDigits);
}

export function emptyGroup({ queue, group }: GroupKey): Group {
  return { queue, group, next: 1, count: 0, dead: 0, epoch: 0, registered: false };
}

export function readyAtOf({ head, lease }: Group): number | undefined {
  return lease?.until ?? head?.readyAt;
}

export function groupDocument(group: Group): JsonObject {
  checkGroup(group);
  const { queue, group: name, head, lease, settled, ...counters } = group;
  return {
    id: groupId,
    queue,
    part: partOf(name),
    kind: "group",
    v: formatVersion,
    group: name,
    ...counters,
    ...(head === undefined ? {} : { head: { ...head }, work: queue, readyAt: readyAtOf(group) }),
    ...(lease === undefined ? {} : { lease: { ...lease } }),
    ...(settled === undefined ? {} : { settled: { ...settled } }),
    ...(group.count === 0 && group.dead === 0 ? { ttl: idleGroupSeconds } : {}),
  };
}

export function groupOf(document: JsonObject): Group {
  const { id, kind, v, part, work: _work, readyAt: _readyAt, ttl: _ttl, ...fields } = document;
  invariant(
    id === groupId && kind === "group" && v === formatVersion,
    "CORRUPT",
    `queue record ${JSON.stringify(id)} is not a group of format ${formatVersion}`,
  );
  const group = fields as unknown as Group;
  invariant(part === partOf(group.group), "CORRUPT", "a group record is in the partition of another group");
  checkGroup(group);
  return group;
}

function checkGroup({ count, dead, next, epoch, head, lease }: Group): void {
  const whole =
    [count, dead, epoch].every((n) => Number.isSafeInteger(n) && n >= 0) && Number.isSafeInteger(next) && next > count;
  invariant(whole, "CORRUPT", `a group's counters are inconsistent: ${JSON.stringify({ count, dead, next, epoch })}`);
  invariant(count > 0 === (head !== undefined), "CORRUPT", "a group has a head exactly when it has messages");
  invariant(
    lease === undefined || (head !== undefined && lease.epoch === epoch),
    "CORRUPT",
    "only a group's head is leased, in its newest epoch",
  );
}

export function messageDocument(place: GroupKey, message: Message): JsonObject {
  const { id, ...rest } = message;
  return {
    id: messageItem(id),
    queue: place.queue,
    part: partOf(place.group),
    kind: "message",
    v: formatVersion,
    ...(rest as unknown as JsonObject),
  };
}

export function messageOf(document: JsonObject): Message {
  const { id, kind, v, queue: _queue, part: _part, ...rest } = document;
  invariant(
    kind === "message" && v === formatVersion,
    "CORRUPT",
    `queue record ${JSON.stringify(id)} is not a message of format ${formatVersion}`,
  );
  return { ...(rest as unknown as Message), id: (id as string).slice(messageItem("").length) };
}

/** The head that a message becomes. It is ready from `now` at the earliest, so that groups take turns in the index. */
export function headOf(message: Message, now: number): Head {
  const { id, sentAt, readyAt, dedupId } = message;
  return {
    id,
    sentAt,
    readyAt: Math.max(readyAt, now),
    failures: 0,
    losses: 0,
    ...(dedupId === undefined ? {} : { dedupId }),
  };
}
