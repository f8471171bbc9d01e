/** The pair of SQS queues behind one queue of one tenant, created at first use. Creating them is idempotent. */
import type { SQS } from "@aws-sdk/client-sqs";
import { invariant } from "../../domain/invariant.ts";
import { calling } from "./errors.ts";
import { sqsNames } from "./names.ts";

export interface QueuePair {
  readonly main: string;
  readonly dead: string;
}

/** The most SQS allows, so that nothing is dropped silently before an operator looks (F16). */
const retentionSeconds = String(14 * 86_400);
/** SQS's own redrive policy counts every receive; it is only the last resort behind ours. */
const receivesMax = 1_000;
const pairsMax = 10_000;

export class SqsQueues {
  readonly #api: SQS;
  readonly #prefix: string;
  readonly #pairs = new Map<string, Promise<QueuePair>>();

  constructor(api: SQS, prefix: string) {
    this.#api = api;
    this.#prefix = prefix;
  }

  pair(tenant: string, queue: string): Promise<QueuePair> {
    const key = `${tenant}/${queue}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      if (this.#pairs.size >= pairsMax) this.#pairs.clear();
      pair = this.#make(tenant, queue);
      this.#pairs.set(key, pair);
      pair.catch(() => this.#pairs.delete(key));
    }
    return pair;
  }

  async #make(tenant: string, queue: string): Promise<QueuePair> {
    const names = sqsNames(this.#prefix, tenant, queue);
    const dead = await this.#create(names.dead, {});
    const { Attributes } = await calling(
      "describe a queue",
      this.#api.getQueueAttributes({ QueueUrl: dead, AttributeNames: ["QueueArn"] }),
    );
    const redrive = JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: receivesMax });
    return { dead, main: await this.#create(names.main, { RedrivePolicy: redrive }) };
  }

  async #create(name: string, more: Record<string, string>): Promise<string> {
    const attributes = {
      FifoQueue: "true",
      ContentBasedDeduplication: "false",
      MessageRetentionPeriod: retentionSeconds,
      ...more,
    };
    const { QueueUrl } = await calling(
      "create a queue",
      this.#api.createQueue({ QueueName: name, Attributes: attributes }),
    );
    invariant(QueueUrl !== undefined, "INTERNAL", "SQS created a queue without a URL");
    return QueueUrl;
  }
}
