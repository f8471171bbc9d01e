/** List, inspect, redrive, discard. Redriving leaves a tombstone in place of the dead letter, so that a repeat finds the new message. */
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { DeadKey, DeadLetter, DeadPage, SendResult } from "../../ports/queue.ts";
import type { DeadDriver } from "../queue-driver.ts";
import { deadLetterOf } from "./burial.ts";
import { forget } from "./endings.ts";
import type { Groups } from "./groups.ts";
import type { Hints } from "./hints.ts";
import { deadItem, partOf, partitionOf, queueContainer, rememberedSeconds, type GroupKey } from "./records.ts";
import type { Sending } from "./sending.ts";

export class ItemDeadLetters implements DeadDriver {
  readonly #groups: Groups;
  readonly #sending: Sending;
  readonly #hints: Hints;

  constructor(groups: Groups, sending: Sending, hints: Hints) {
    this.#groups = groups;
    this.#sending = sending;
    this.#hints = hints;
  }

  async list(scope: Scope, queue: string, limit: number, cursor: string | undefined): Promise<DeadPage> {
    const query = { index: "dead", equals: { deadIn: queue }, limit, cursor };
    const page = await this.#groups.items.query(scope, queueContainer.name, query);
    const letters = page.items.flatMap(({ document }) => {
      const letter = deadLetterOf(document);
      if (letter === undefined) return [];
      const { body: _body, ...summary } = letter;
      return [summary];
    });
    return page.cursor === undefined ? { letters } : { letters, cursor: page.cursor };
  }

  async inspect(scope: Scope, queue: string, { group, id }: DeadKey): Promise<DeadLetter | undefined> {
    const document = await this.#document(scope, { queue, group }, id);
    return document === undefined ? undefined : deadLetterOf(document);
  }

  async redrive(scope: Scope, queue: string, { group: name, id }: DeadKey): Promise<SendResult> {
    const place = { queue, group: name };
    const sent = await this.#groups.change<SendResult>(scope, place, async (group) => {
      const document = await this.#document(scope, place, id);
      if (document?.["kind"] === "redriven") return { result: { id: document["message"] as string } };
      const letter = document === undefined ? undefined : deadLetterOf(document);
      if (letter === undefined)
        throw new PinakesError("NOT_FOUND", `There is no dead letter "${id}" in group "${name}" of queue "${queue}".`);
      const now = this.#groups.clock.now();
      const dedupId = document?.["dedupId"] as string | undefined;
      const origin = letter.origin ?? { id, order: letter.order, sentAt: letter.sentAt };
      const content = {
        body: letter.body,
        sentAt: now,
        readyAt: now,
        origin,
        ...(dedupId === undefined ? {} : { dedupId }),
      };
      const added = await this.#sending.append(scope, group, content);
      const mark = {
        id: deadItem(id),
        queue,
        part: partOf(name),
        kind: "redriven",
        v: 1,
        message: added.message.id,
        ttl: rememberedSeconds,
      };
      return {
        result: { id: added.message.id },
        group: { ...added.group, dead: group.dead - 1 },
        operations: [...added.operations, { op: "replace", document: mark }],
      };
    });
    this.#hints.add(scope, queue, name);
    return sent;
  }

  async discard(scope: Scope, queue: string, { group: name, id }: DeadKey): Promise<boolean> {
    const place = { queue, group: name };
    return this.#groups.change<boolean>(scope, place, async (group) => {
      const document = await this.#document(scope, place, id);
      if (document?.["kind"] !== "dead") return { result: false };
      const operations = [
        { op: "delete", id: deadItem(id) } as const,
        ...forget(document["dedupId"] as string | undefined),
      ];
      return { result: true, group: { ...group, dead: group.dead - 1 }, operations };
    });
  }

  async #document(scope: Scope, place: GroupKey, id: string): Promise<JsonObject | undefined> {
    return (
      await this.#groups.items.read(scope, queueContainer.name, { partition: partitionOf(place), id: deadItem(id) })
    )?.document;
  }
}
