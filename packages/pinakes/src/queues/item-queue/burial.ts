/** The batch that makes a group's head a dead letter: the group continues and the message moves, both or neither. */
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { DeadLetter } from "../../ports/queue.ts";
import type { Groups } from "./groups.ts";
import {
  deadItem,
  messageItem,
  orderOf,
  partOf,
  type Group,
  type Head,
  type Message,
  type GroupKey,
} from "./records.ts";

/** Undefined if what is stored changed in between. */
export async function bury(
  groups: Groups,
  scope: Scope,
  group: Group,
  head: Head,
  cause: DeadLetter["cause"],
): Promise<{ group: Group; operations: readonly Operation[] } | undefined> {
  const [message, rest] = await Promise.all([groups.message(scope, group, head.id), groups.withoutHead(scope, group)]);
  if (message === undefined || rest === undefined) return undefined;
  return {
    group: { ...rest, dead: rest.dead + 1 },
    operations: [
      { op: "delete", id: messageItem(head.id) },
      { op: "create", document: deadDocument(group, message, head, cause, groups.clock.now()) },
    ],
  };
}

function deadDocument(
  place: GroupKey,
  message: Message,
  head: Head,
  cause: DeadLetter["cause"],
  now: number,
): JsonObject {
  const { id, body, sentAt, dedupId, origin } = message;
  return {
    id: deadItem(id),
    queue: place.queue,
    part: partOf(place.group),
    kind: "dead",
    v: 1,
    deadIn: place.queue,
    deadAt: now,
    group: place.group,
    cause,
    failures: head.failures,
    losses: head.losses,
    sentAt,
    ...(head.reason === undefined ? {} : { reason: head.reason }),
    ...(dedupId === undefined ? {} : { dedupId }),
    ...(origin === undefined ? {} : { origin: { ...origin } }),
    body,
  };
}

/** The port's view of a dead record; undefined for anything else (the tombstone of a redriven one). */
export function deadLetterOf(document: JsonObject): DeadLetter | undefined {
  if (document["kind"] !== "dead") return undefined;
  const { id, group, cause, failures, losses, sentAt, deadAt, reason, origin, body } =
    document as unknown as DeadLetter & { losses: number };
  const messageId = id.slice(deadItem("").length);
  return {
    id: messageId,
    group,
    order: orderOf(messageId),
    cause,
    failures,
    leaseLosses: losses,
    sentAt,
    deadAt,
    ...(reason === undefined ? {} : { reason }),
    ...(origin === undefined ? {} : { origin }),
    body,
  };
}
