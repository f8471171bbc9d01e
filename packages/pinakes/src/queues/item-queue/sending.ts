/** One batch: the group's counters, the message, and its dedupId record. */
import { createHash, randomUUID } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { SendResult } from "../../ports/queue.ts";
import type { CheckedMessage } from "../queue-driver.ts";
import { again, type Groups, type Step } from "./groups.ts";
import {
  dedupItem,
  headOf,
  messageDocument,
  messageId,
  partOf,
  partitionOf,
  queueContainer,
  type Group,
  type Message,
  type GroupKey,
} from "./records.ts";
import type { Registry } from "./registry.ts";

export class Sending {
  readonly #groups: Groups;
  readonly #registry: Registry;
  readonly #groupMessagesMax: number;

  constructor(groups: Groups, registry: Registry, groupMessagesMax: number) {
    this.#groups = groups;
    this.#registry = registry;
    this.#groupMessagesMax = groupMessagesMax;
  }

  async send(
    scope: Scope,
    queue: string,
    { body, group: name, dedupId, delayMs }: CheckedMessage,
  ): Promise<SendResult> {
    const place = { queue, group: name };
    const content = contentHash(body);
    return this.#groups.change(scope, place, async (group, attempt): Promise<Step<SendResult> | typeof again> => {
      // The first attempt does not read it: usually the dedupId is new, and creating its record fails if it is not.
      const known =
        dedupId === undefined || attempt === 0 ? undefined : await this.#known(scope, place, dedupId, content);
      if (known !== undefined) return { result: { id: known } };
      // A full group still recognises earlier sends.
      if (attempt === 0 && dedupId !== undefined && group.count >= this.#groupMessagesMax) return again;
      const now = this.#groups.clock.now();
      const message = { body, sentAt: now, readyAt: now + delayMs, ...(dedupId === undefined ? {} : { dedupId }) };
      const added = await this.append(scope, group, message);
      const { id } = added.message;
      const remember: Operation[] =
        dedupId === undefined
          ? []
          : [
              {
                op: "create",
                document: {
                  id: dedupItem(dedupId),
                  queue,
                  part: partOf(name),
                  kind: "dedup",
                  v: 1,
                  message: id,
                  content,
                },
              },
            ];
      return { result: { id }, group: added.group, operations: [...added.operations, ...remember] };
    });
  }

  /** At the end of the group, with the next order number. */
  async append(
    scope: Scope,
    group: Group,
    content: Omit<Message, "id">,
  ): Promise<{ group: Group; message: Message; operations: readonly Operation[] }> {
    if (group.count >= this.#groupMessagesMax) {
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `Group "${group.group}" of queue "${group.queue}" has ${group.count} messages, which is its limit. Wait until some are done.`,
      );
    }
    if (!group.registered) await this.#registry.register(scope, group);
    const message = { ...content, id: messageId(group.next, randomUUID().slice(0, 8)) };
    return {
      message,
      group: {
        ...group,
        registered: true,
        next: group.next + 1,
        count: group.count + 1,
        head: group.head ?? headOf(message, this.#groups.clock.now()),
      },
      operations: [{ op: "create", document: messageDocument(group, message) }],
    };
  }

  async #known(scope: Scope, place: GroupKey, dedupId: string, content: string): Promise<string | undefined> {
    const record = await this.#groups.items.read(scope, queueContainer.name, {
      partition: partitionOf(place),
      id: dedupItem(dedupId),
    });
    if (record === undefined) return undefined;
    if (record.document["content"] === content) return record.document["message"] as string;
    throw new PinakesError(
      "CONFLICT",
      `dedupId "${dedupId}" belongs to another message of group "${place.group}", with another body. Use a new dedupId for new content.`,
    );
  }
}

/** The same text for equal JSON, whatever the order of its keys. */
function contentHash(body: JsonValue): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(body)))
    .digest("base64url");
}

function sorted(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map((element: JsonValue) => sorted(element));
  if (typeof value !== "object" || value === null) return value;
  // Marks an object with one property, so that it never looks like an array.
  return {
    object: Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child as JsonValue)]),
  };
}
