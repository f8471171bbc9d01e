import type { ItemStore } from "../../ports/item-store.ts";
import type { Queue } from "../../ports/queue.ts";
import { checkWhole } from "../../queues/check-input.ts";
import { createQueue, type WaitingOptions } from "../../queues/create-queue.ts";
import { queueLimits } from "../../queues/queue-limits.ts";
import { AttemptRecords } from "./attempts.ts";
import { connect } from "./client.ts";
import { SqsDriver, type PlainQueues } from "./driver.ts";
import { checkPrefix } from "./names.ts";
import { SqsQueues } from "./sqs-queues.ts";
import type { ConnectionOptions } from "../../runtime/aws-connection.ts";

export interface SqsQueueOptions extends ConnectionOptions, WaitingOptions {
  /** Stores the failure counts. Owned by the caller: closing the queue does not close it. */
  readonly items: ItemStore;
  /** Queues are named `<prefix>-<queue>-<hash>.fifo`. */
  readonly prefix?: string | undefined;
  readonly attemptsMax?: number | undefined;
  readonly leaseLossesMax?: number | undefined;
  /**
   * Queues that producers without Pinakes write to, too: there any JSON object is a message, not only what `send` wrote. None by default.
   */
  readonly plainQueues?: PlainQueues | undefined;
}

/**
 * Queues in SQS FIFO, each with a FIFO dead-letter queue.
 *
 * @example
 * const queue = await openSqsQueue({ region: "eu-central-1", prefix: "my-app", items });
 */
export async function openSqsQueue({
  items,
  prefix = "pinakes",
  attemptsMax,
  leaseLossesMax,
  plainQueues = () => false,
  ...options
}: SqsQueueOptions): Promise<Queue> {
  const bounds = {
    attemptsMax: checkWhole(attemptsMax ?? queueLimits.attemptsDefault, "attemptsMax", 1, queueLimits.attemptsMax),
    leaseLossesMax: checkWhole(
      leaseLossesMax ?? queueLimits.leaseLossesDefault,
      "leaseLossesMax",
      1,
      queueLimits.attemptsMax,
    ),
  };
  const checkedPrefix = checkPrefix(prefix);
  const api = await connect(options);
  const attempts = new AttemptRecords(items);
  await attempts.open();
  return createQueue(
    new SqsDriver({ api, queues: new SqsQueues(api, checkedPrefix), attempts, isPlain: plainQueues, ...bounds }),
    options,
  );
}
