/**
 * Steps on one group. Each reads the group record, plans, and commits one batch on the condition that the record is unchanged; since every
 * change of a partition changes that record, everything else the plan read is unchanged as well. A step that loses a race is repeated.
 */
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import {
  emptyGroup,
  groupDocument,
  groupId,
  groupOf,
  headOf,
  messageItem,
  messageOf,
  messagesEnd,
  partOf,
  partitionOf,
  queueContainer,
  type Group,
  type Message,
  type GroupKey,
} from "./records.ts";

/** Plenty in one process, where steps on a group take turns; processes that compete for one group need a few. */
const stepAttemptsMax = 30;
const stepBackoffMsMax = 100;

export interface Step<T> {
  readonly result: T;
  /** Absent: nothing is written. */
  readonly group?: Group;
  readonly operations?: readonly Operation[];
}
/** What was read is inconsistent: another writer changed it in between. */
export const again = Symbol("again");
export type Plan<T> = (group: Group, attempt: number) => Promise<Step<T> | typeof again> | Step<T> | typeof again;

export class Groups {
  readonly items: ItemStore;
  readonly clock: Clock;
  readonly #turns = new KeyedQueue();

  constructor(items: ItemStore, clock: Clock) {
    this.items = items;
    this.clock = clock;
  }

  async change<T>(scope: Scope, place: GroupKey, plan: Plan<T>): Promise<T> {
    return this.#turns.run([JSON.stringify([scope.tenant, place.queue, place.group])], () =>
      this.#untilSettled(scope, place, plan),
    );
  }

  async read(scope: Scope, place: GroupKey): Promise<Group> {
    const item = await this.#item(scope, place, groupId);
    return item === undefined ? emptyGroup(place) : groupOf(item.document);
  }

  async message(scope: Scope, place: GroupKey, id: string): Promise<Message | undefined> {
    const item = await this.#item(scope, place, messageItem(id));
    return item === undefined ? undefined : messageOf(item.document);
  }

  /** The group without its head: the next message becomes the head. Undefined if that contradicts what is stored. */
  async withoutHead(scope: Scope, group: Group): Promise<Group | undefined> {
    const { head, lease: _lease, ...rest } = group;
    invariant(head !== undefined, "INTERNAL", "only a group with messages can lose its head");
    const count = group.count - 1;
    if (count === 0) return { ...rest, count };
    const { items } = await this.items.query(scope, queueContainer.name, {
      equals: { queue: group.queue, part: partOf(group.group) },
      range: { gt: messageItem(head.id), lt: messagesEnd },
      limit: 1,
    });
    const [next] = items;
    return next === undefined
      ? undefined
      : { ...rest, count, head: headOf(messageOf(next.document), this.clock.now()) };
  }

  async #untilSettled<T>(scope: Scope, place: GroupKey, plan: Plan<T>): Promise<T> {
    let cause: unknown;
    for (let attempt = 0; attempt < stepAttemptsMax; attempt += 1) {
      if (attempt > 1) await backoff(attempt);
      const item = await this.#item(scope, place, groupId);
      const step = await plan(item === undefined ? emptyGroup(place) : groupOf(item.document), attempt);
      if (step === again) continue;
      if (step.group === undefined) return step.result;
      const document = groupDocument(step.group);
      const write: Operation =
        item === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: item.etag };
      try {
        await this.items.batch(scope, queueContainer.name, partitionOf(place), [write, ...(step.operations ?? [])]);
        return step.result;
      } catch (error) {
        if (!isConflict(error)) throw error;
        cause = error;
      }
    }
    throw new PinakesError(
      "UNAVAILABLE",
      `Group "${place.group}" of queue "${place.queue}" has too many concurrent changes. Try again.`,
      { cause },
    );
  }

  #item(scope: Scope, place: GroupKey, id: string) {
    return this.items.read(scope, queueContainer.name, { partition: partitionOf(place), id });
  }
}

/** With jitter, so that writers that collided do not collide again in step. */
function backoff(attempt: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, Math.random() * Math.min(stepBackoffMsMax, 2 ** attempt)));
}
