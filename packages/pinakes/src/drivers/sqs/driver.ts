/**
 * A queue on SQS FIFO. Order, dedup, leases and the lock on a group are the service's; failures are counted in the item store.
 *
 * One message per request: SQS would put several of one group into one answer, and only one of a group may be in flight. Ending a message
 * first extends the lease: SQS rejects an expired handle there, while a delete would silently do nothing.
 */
import { randomUUID } from "node:crypto";
import type { SQS } from "@aws-sdk/client-sqs";
import type { Scope } from "../../domain/scope.ts";
import {
  queueCapabilityDefaults,
  type QueueCapabilities,
  type QueueStats,
  type ReceivedMessage,
  type SendResult,
} from "../../ports/queue.ts";
import type { CheckedMessage, PollRequest, PollResult, QueueDriver } from "../../queues/queue-driver.ts";
import { queueLimits } from "../../queues/queue-limits.ts";
import type { AttemptRecords, Attempts } from "./attempts.ts";
import {
  openMessage,
  openReceipt,
  rawMessage,
  sealEnvelope,
  sealReceipt,
  type RawMessage,
  type SqsMessage,
  type SqsReceipt,
} from "./envelope.ts";
import { calling } from "./errors.ts";
import { sqsDedupId, sqsGroup } from "./names.ts";
import type { QueuePair, SqsQueues } from "./sqs-queues.ts";

const longPollSecondsMax = 20;
/** How long an ending hides the message while it is recorded. */
const endingSeconds = 30;
const buriedMax = 10;

/** Whether producers without Pinakes write into this queue of this tenant, too. */
export type PlainQueues = (tenant: string, queue: string) => boolean;

export interface SqsDriverOptions {
  readonly api: SQS;
  readonly queues: SqsQueues;
  readonly attempts: AttemptRecords;
  readonly attemptsMax: number;
  readonly leaseLossesMax: number;
  readonly isPlain: PlainQueues;
}

export class SqsDriver implements QueueDriver {
  readonly capabilities: QueueCapabilities = {
    ...queueCapabilityDefaults,
    driver: "sqs",
    dedupWindowMs: 300_000,
    dedupConflict: false,
    delay: false,
    inspectDead: false,
    ownerHeartbeat: false,
    exactStats: false,
    timing: "service",
    durable: true,
  };
  readonly #parts: SqsDriverOptions;

  constructor(parts: SqsDriverOptions) {
    this.#parts = parts;
  }

  async send({ tenant }: Scope, queue: string, { body, group, dedupId }: CheckedMessage): Promise<SendResult> {
    const MessageBody = sealEnvelope(tenant, group, body);
    const { main } = await this.#parts.queues.pair(tenant, queue);
    const MessageDeduplicationId = dedupId === undefined ? randomUUID() : sqsDedupId(group, dedupId);
    const request = { QueueUrl: main, MessageBody, MessageGroupId: sqsGroup(tenant, group), MessageDeduplicationId };
    const { MessageId = "" } = await calling("send", this.#parts.api.sendMessage(request));
    return { id: MessageId };
  }

  async poll(scope: Scope, queue: string, request: PollRequest): Promise<PollResult> {
    const pair = await this.#parts.queues.pair(scope.tenant, queue);
    const messages: ReceivedMessage[] = [];
    try {
      for (let buried = 0; messages.length < request.max && buried < buriedMax && !request.signal.aborted;) {
        const waitSeconds = messages.length > 0 ? 0 : Math.min(longPollSecondsMax, Math.floor(request.waitMs / 1_000));
        const message = await this.#receive(scope, queue, pair, request, waitSeconds);
        if (message === undefined) break;
        if (message === "buried") buried += 1;
        else messages.push(message);
      }
    } catch (error) {
      // Messages already leased must reach their receiver.
      if (messages.length === 0 && !request.signal.aborted) throw error;
    }
    return { messages };
  }

  async heartbeat({ tenant }: Scope, receipt: string, leaseMs: number | undefined): Promise<void> {
    const opened = openReceipt(receipt);
    const { main } = await this.#parts.queues.pair(tenant, opened.queue);
    await this.#visibleIn(main, opened.handle, leaseMs === undefined ? opened.leaseSeconds : seconds(leaseMs));
  }

  async done({ tenant }: Scope, receipt: string): Promise<string> {
    const { queue, handle } = openReceipt(receipt);
    const { main } = await this.#parts.queues.pair(tenant, queue);
    await this.#visibleIn(main, handle, endingSeconds);
    await calling("delete a message", this.#parts.api.deleteMessage({ QueueUrl: main, ReceiptHandle: handle }));
    return queue;
  }

  async failed(scope: Scope, receipt: string, reason: string, retryInMs: number | undefined): Promise<string> {
    const opened = openReceipt(receipt);
    let waitMs = 0;
    const counted = (before: Attempts) => {
      const failures = before.failures + 1;
      const dead = failures >= this.#parts.attemptsMax;
      const backoffMs = Math.min(queueLimits.retryMsFirst * 2 ** (failures - 1), queueLimits.retryMsBackoffMax);
      waitMs = dead ? 0 : (retryInMs ?? backoffMs);
      return { ...before, failures, reason, ...(dead ? { condemned: "failed" as const } : {}) };
    };
    return this.#giveBack(scope, opened, counted, () => waitMs);
  }

  release(scope: Scope, receipt: string, retryInMs: number): Promise<string> {
    const counted = (before: Attempts) => ({ ...before, released: before.released + 1 });
    return this.#giveBack(scope, openReceipt(receipt), counted, () => retryInMs);
  }

  async stats({ tenant }: Scope, queue: string): Promise<QueueStats> {
    const { main, dead } = await this.#parts.queues.pair(tenant, queue);
    const [live, buried] = await Promise.all([this.#counts(main), this.#counts(dead)]);
    return {
      ready: live("ApproximateNumberOfMessages"),
      inFlight: live("ApproximateNumberOfMessagesNotVisible"),
      delayed: live("ApproximateNumberOfMessagesDelayed"),
      dead: buried("ApproximateNumberOfMessages") + buried("ApproximateNumberOfMessagesNotVisible"),
    };
  }

  async close(): Promise<void> {
    this.#parts.api.destroy();
  }

  async #receive(scope: Scope, queue: string, pair: QueuePair, { leaseMs, signal }: PollRequest, waitSeconds: number) {
    const leaseSeconds = seconds(leaseMs);
    const request = {
      QueueUrl: pair.main,
      MaxNumberOfMessages: 1,
      VisibilityTimeout: leaseSeconds,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["All" as const],
    };
    const { Messages = [] } = await calling(
      "receive",
      this.#parts.api.receiveMessage(request, { abortSignal: signal }),
    );
    const [found] = Messages;
    if (found === undefined) return undefined;
    const raw = rawMessage(found);
    const message = openMessage(raw, scope.tenant, this.#parts.isPlain(scope.tenant, queue));
    if ("unreadable" in message) {
      await this.#bury(pair, raw, { cause: "unreadable", reason: message.unreadable });
      return "buried" as const;
    }
    const attempts = await this.#parts.attempts.read(scope, queue, message.id);
    const { failures, reason } = attempts;
    const leaseLosses = Math.max(0, message.receives - 1 - failures - attempts.released);
    const cause = attempts.condemned ?? (leaseLosses >= this.#parts.leaseLossesMax ? "lease-lost" : undefined);
    if (cause === undefined) return received(queue, message, attempts, leaseLosses, leaseSeconds);
    await this.#bury(pair, raw, {
      cause,
      reason: reason ?? cause,
      failures: String(failures),
      leaseLosses: String(leaseLosses),
    });
    return "buried" as const;
  }

  /**
   * First written to the dead letters, then removed from the queue: a crash in between repeats this, and the dedup id prevents duplicates.
   */
  async #bury(
    pair: QueuePair,
    { id, handle, sqsGroup: group, text, order }: RawMessage,
    why: Record<string, string>,
  ): Promise<void> {
    const { api } = this.#parts;
    // Only the characters that SQS accepts in an attribute: those of XML 1.0.
    const attribute = (value: string) => ({
      DataType: "String",
      StringValue: value.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/g, "?"),
    });
    const MessageAttributes = Object.fromEntries(
      Object.entries({ id, order, ...why }).map(([name, value]) => [name, attribute(value)]),
    );
    const request = {
      QueueUrl: pair.dead,
      MessageBody: text,
      MessageGroupId: group,
      MessageDeduplicationId: id,
      MessageAttributes,
    };
    await calling("move a message to the dead letters", api.sendMessage(request));
    await calling("delete a message", api.deleteMessage({ QueueUrl: pair.main, ReceiptHandle: handle }));
  }

  /** Hidden while it is counted, so that no receiver gets it with the old count. */
  async #giveBack(
    scope: Scope,
    receipt: SqsReceipt,
    change: (before: Attempts) => Omit<Attempts, "receive">,
    waitMs: () => number,
  ): Promise<string> {
    const { main } = await this.#parts.queues.pair(scope.tenant, receipt.queue);
    await this.#visibleIn(main, receipt.handle, endingSeconds);
    await this.#parts.attempts.count(scope, receipt, change);
    await this.#visibleIn(main, receipt.handle, seconds(waitMs()));
    return receipt.queue;
  }

  async #visibleIn(url: string, handle: string, timeout: number): Promise<void> {
    const request = { QueueUrl: url, ReceiptHandle: handle, VisibilityTimeout: timeout };
    await calling("change a lease", this.#parts.api.changeMessageVisibility(request));
  }

  async #counts(url: string) {
    const { Attributes } = await calling(
      "describe a queue",
      this.#parts.api.getQueueAttributes({ QueueUrl: url, AttributeNames: ["All"] }),
    );
    return (name: keyof NonNullable<typeof Attributes>) => Number(Attributes?.[name] ?? 0);
  }
}

function received(
  queue: string,
  message: SqsMessage,
  { failures }: Attempts,
  leaseLosses: number,
  leaseSeconds: number,
): ReceivedMessage {
  const { id, handle, receives, group, body, order, sentAt } = message;
  return {
    id,
    group,
    body,
    order,
    sentAt,
    failures,
    leaseLosses,
    receipt: sealReceipt({ queue, handle, id, receives, leaseSeconds }),
  };
}

/** SQS counts in whole seconds; rounded up, so a lease is never shorter than requested. */
function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
