/**
 * Finding a group whose head is due, and claiming it. The index, the hints of this process and the sweep only propose groups; the condition
 * on the group record decides. So none of them needs to be complete or current.
 */
import { randomUUID } from "node:crypto";
import { hasCode, type PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ReceivedMessage } from "../../ports/queue.ts";
import type { PollRequest, PollResult } from "../queue-driver.ts";
import { bury } from "./burial.ts";
import { again, type Groups, type Step } from "./groups.ts";
import type { Hints } from "./hints.ts";
import { sealReceipt } from "./receipts.ts";
import {
  orderOf,
  queueContainer,
  readyAtOf,
  type Group,
  type Head,
  type Lease,
  type Message,
  type GroupKey,
} from "./records.ts";
import type { Sweeps } from "./sweeps.ts";

/** Per requested message: other receivers take some first. */
const candidatesPerMessage = 4;
const indexPagesMax = 5;
/** Dead heads that one poll skips in one group. */
const buriedMax = 10;

/** One poll for work. */
interface Look {
  readonly messages: ReceivedMessage[];
  readonly tried: Set<string>;
  broken?: PinakesError;
}

export interface ClaimingOptions {
  readonly leaseLossesMax: number;
}

export class Claiming {
  readonly #groups: Groups;
  readonly #hints: Hints;
  readonly #sweeps: Sweeps;
  readonly #leaseLossesMax: number;

  constructor(groups: Groups, hints: Hints, sweeps: Sweeps, { leaseLossesMax }: ClaimingOptions) {
    this.#groups = groups;
    this.#hints = hints;
    this.#sweeps = sweeps;
    this.#leaseLossesMax = leaseLossesMax;
  }

  async poll(scope: Scope, queue: string, request: PollRequest): Promise<PollResult> {
    const messages: ReceivedMessage[] = [];
    const look: Look = { messages, tried: new Set() };
    const claimAll = (groups: Iterable<string>) => this.#claimAll(scope, queue, groups, request, look);
    try {
      // First, so that a busy queue, whose index always shows enough, does not starve a group that the index does not show.
      await claimAll(await this.#sweeps.due(scope, queue));
      const dueInMs = await this.#fromIndex(scope, queue, request, messages, claimAll);
      // After the index, which is in order of readiness: a group that is always hinted at must not overtake the others.
      if (messages.length < request.max) await claimAll(this.#hints.take(scope, queue));
      if (messages.length === 0 && look.broken !== undefined) throw look.broken;
      return { messages, dueInMs: Math.min(dueInMs ?? Infinity, this.#sweeps.inMs(scope, queue)) };
    } catch (error) {
      // Messages already claimed must reach their receiver; a persistent failure will occur again.
      if (messages.length > 0) return { messages };
      throw error;
    }
  }

  async #fromIndex(
    scope: Scope,
    queue: string,
    request: PollRequest,
    messages: readonly ReceivedMessage[],
    claimAll: (groups: readonly string[]) => Promise<void>,
  ): Promise<number | undefined> {
    let cursor: string | undefined;
    for (let pages = 0; pages < indexPagesMax && messages.length < request.max; pages += 1) {
      const now = this.#groups.clock.now();
      const page = await this.#groups.items.query(scope, queueContainer.name, {
        index: "ready",
        equals: { work: queue },
        limit: request.max * candidatesPerMessage,
        cursor,
      });
      const found = page.items.map(({ document }) => document as { group: string; readyAt: number });
      await claimAll(found.filter(({ readyAt }) => readyAt <= now).map(({ group }) => group));
      // Ordered by readyAt: nothing after the first that is not ready yet.
      const later = found.find(({ readyAt }) => readyAt > now);
      if (later !== undefined) return later.readyAt - now;
      cursor = page.cursor;
      if (cursor === undefined) return undefined;
    }
    return undefined;
  }

  async #claimAll(
    scope: Scope,
    queue: string,
    groups: Iterable<string>,
    request: PollRequest,
    look: Look,
  ): Promise<void> {
    const { messages, tried } = look;
    for (const group of groups) {
      if (messages.length >= request.max || request.signal.aborted) return;
      if (tried.has(group)) continue;
      tried.add(group);
      try {
        const message = await this.#claim(scope, { queue, group }, request);
        if (message !== undefined) messages.push(message);
      } catch (error) {
        // A broken group must not hold up the others; its error is thrown if there is no message to return.
        if (!hasCode(error, "CORRUPT")) throw error;
        look.broken ??= error;
      }
    }
  }

  async #claim(scope: Scope, place: GroupKey, request: PollRequest): Promise<ReceivedMessage | undefined> {
    for (let buried = 0; buried < buriedMax; buried += 1) {
      const claimed = await this.#groups.change(scope, place, (group) => this.#plan(scope, group, request));
      if (claimed !== "buried") return claimed;
    }
    return undefined;
  }

  async #plan(
    scope: Scope,
    group: Group,
    request: PollRequest,
  ): Promise<Step<ReceivedMessage | "buried" | undefined> | typeof again> {
    const now = this.#groups.clock.now();
    const { head, lease } = group;
    if (head === undefined || (readyAtOf(group) ?? Infinity) > now) return { result: undefined };
    const tried = lease === undefined ? head : { ...head, losses: head.losses + 1 };
    if (tried.losses >= this.#leaseLossesMax) {
      const burial = await bury(this.#groups, scope, group, tried, "lease-lost");
      return burial === undefined ? again : { result: "buried", ...burial };
    }
    const message = await this.#groups.message(scope, group, head.id);
    if (message === undefined) return again;
    const epoch = group.epoch + 1;
    const taken: Lease = {
      owner: request.owner,
      epoch,
      nonce: randomUUID(),
      until: now + request.leaseMs,
      ms: request.leaseMs,
    };
    return { result: received(group, message, tried, taken), group: { ...group, epoch, head: tried, lease: taken } };
  }
}

function received(
  { queue, group }: GroupKey,
  message: Message,
  head: Head,
  { owner, epoch, nonce }: Lease,
): ReceivedMessage {
  return {
    id: message.id,
    group,
    body: message.body,
    receipt: sealReceipt({ queue, group, message: message.id, owner, epoch, nonce }),
    order: orderOf(message.id),
    sentAt: message.sentAt,
    failures: head.failures,
    leaseLosses: head.losses,
    ...(message.origin === undefined ? {} : { origin: message.origin }),
  };
}
