/** A queue on any ItemStore (RFC 0004): every engine that stores items can store queues, and a message is as durable as an item. */
import type { Scope } from "../../domain/scope.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import {
  queueCapabilityDefaults,
  type Queue,
  type QueueCapabilities,
  type QueueStats,
  type SendResult,
} from "../../ports/queue.ts";
import { checkWhole } from "../check-input.ts";
import { createQueue, type WaitingOptions } from "../create-queue.ts";
import type { CheckedMessage, PollRequest, PollResult, QueueDriver } from "../queue-driver.ts";
import { queueLimits } from "../queue-limits.ts";
import { Claiming } from "./claiming.ts";
import { ItemDeadLetters } from "./dead-letters.ts";
import { Endings } from "./endings.ts";
import { groupStats } from "./group-stats.ts";
import { Groups } from "./groups.ts";
import { Hints } from "./hints.ts";
import { openReceipt } from "./receipts.ts";
import { queueContainer } from "./records.ts";
import { Registry } from "./registry.ts";
import { Sending } from "./sending.ts";
import { Sweeps } from "./sweeps.ts";

export interface ItemQueueOptions extends WaitingOptions {
  /** Owned by the caller: closing the queue does not close it. */
  readonly items: ItemStore;
  readonly clock?: Clock | undefined;
  /** Processing failures after which a message is dead (default 5). */
  readonly attemptsMax?: number | undefined;
  /** Expired leases after which a message is dead (default 10). */
  readonly leaseLossesMax?: number | undefined;
  /** Messages of one group; a send beyond it is rejected (default 100,000). */
  readonly groupMessagesMax?: number | undefined;
  /** How often receivers sweep for groups that the index does not show (default and at most 30 s). */
  readonly sweepMs?: number | undefined;
}

/**
 * @example
 * await using queue = await openItemQueue({ items });
 * await queue.send(scope, "deltas", { group: "collection-1", body: { delta: "d1" }, dedupId: "d1" });
 * for (const message of await queue.receive(scope, "deltas", { owner: "worker-1", waitMs: 20_000 })) {
 *   await queue.done(scope, message.receipt);
 * }
 */
export async function openItemQueue(options: ItemQueueOptions): Promise<Queue> {
  const driver = new ItemQueueDriver(options);
  await options.items.openContainer(queueContainer);
  return createQueue(driver, options);
}

class ItemQueueDriver implements QueueDriver {
  readonly capabilities: QueueCapabilities;
  readonly dead: ItemDeadLetters;
  readonly #groups: Groups;
  readonly #hints: Hints;
  readonly #sending: Sending;
  readonly #claiming: Claiming;
  readonly #endings: Endings;

  constructor({ items, clock = systemClock, ...options }: ItemQueueOptions) {
    const bound = (name: "attemptsMax" | "leaseLossesMax", normal: number) =>
      checkWhole(options[name] ?? normal, name, 1, queueLimits.attemptsMax);
    const groupMessagesMax = checkWhole(
      options.groupMessagesMax ?? queueLimits.groupMessagesDefault,
      "groupMessagesMax",
      1,
      Number.MAX_SAFE_INTEGER,
    );
    const sweepMs = checkWhole(options.sweepMs ?? queueLimits.pollMsMax, "sweepMs", 1, queueLimits.pollMsMax);
    const { engine, durable, indexReads } = items.capabilities;
    this.capabilities = { ...queueCapabilityDefaults, driver: `items on ${engine}`, durable };
    this.#groups = new Groups(items, clock);
    this.#hints = new Hints(indexReads === "eventual");
    const registry = new Registry(this.#groups);
    this.#sending = new Sending(this.#groups, registry, groupMessagesMax);
    this.#claiming = new Claiming(this.#groups, this.#hints, new Sweeps(registry, clock, sweepMs), {
      leaseLossesMax: bound("leaseLossesMax", queueLimits.leaseLossesDefault),
    });
    this.#endings = new Endings(this.#groups, bound("attemptsMax", queueLimits.attemptsDefault));
    this.dead = new ItemDeadLetters(this.#groups, this.#sending, this.#hints);
  }

  async send(scope: Scope, queue: string, message: CheckedMessage): Promise<SendResult> {
    const sent = await this.#sending.send(scope, queue, message);
    this.#hints.add(scope, queue, message.group);
    return sent;
  }

  poll(scope: Scope, queue: string, request: PollRequest): Promise<PollResult> {
    return this.#claiming.poll(scope, queue, request);
  }

  async heartbeat(scope: Scope, receipt: string, leaseMs: number | undefined): Promise<void> {
    await this.#endings.heartbeat(scope, openReceipt(receipt), leaseMs);
  }

  async done(scope: Scope, receipt: string): Promise<string> {
    const opened = openReceipt(receipt);
    await this.#endings.done(scope, opened);
    return this.#goesOn(scope, opened);
  }

  async failed(scope: Scope, receipt: string, reason: string, retryInMs: number | undefined): Promise<string> {
    const opened = openReceipt(receipt);
    await this.#endings.failed(scope, opened, reason, retryInMs);
    return this.#goesOn(scope, opened);
  }

  async release(scope: Scope, receipt: string, retryInMs: number): Promise<string> {
    const opened = openReceipt(receipt);
    await this.#endings.release(scope, opened, retryInMs);
    return this.#goesOn(scope, opened);
  }

  stats(scope: Scope, queue: string): Promise<QueueStats> {
    return groupStats(this.#groups, scope, queue);
  }

  async close(): Promise<void> {
    // The caller closes the item store.
  }

  #goesOn(scope: Scope, { queue, group }: { queue: string; group: string }): string {
    this.#hints.add(scope, queue, group);
    return queue;
  }
}
