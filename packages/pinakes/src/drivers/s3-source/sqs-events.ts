/**
 * The queue a bucket sends its events to. A message stays there until it is done, and is delivered again if that does not happen in time.
 */
import type { Message, SQS } from "@aws-sdk/client-sqs";
import { PinakesError } from "../../domain/errors.ts";
import type { SourceEvents, SourceMessage } from "../../ports/source-reader.ts";
import type { EventQueueSettings } from "./settings.ts";

const waitSeconds = 20;
/** Visibility timeout of a received message; longer work extends it. */
const visibleSeconds = 60;
const messagesMax = 10;
/** Longer than the longest wait. */
const requestMsMax = 30_000;
const connectMsMax = 2_000;

export async function openSqsEvents({
  region,
  queue,
  endpoint,
  credentials,
}: EventQueueSettings): Promise<SourceEvents> {
  const sdk = await import("@aws-sdk/client-sqs");
  const api = new sdk.SQS({
    region,
    // A local server's queue URLs may name hosts that do not exist.
    ...(endpoint === undefined ? {} : { endpoint, useQueueUrlAsEndpoint: false }),
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
    requestHandler: { requestTimeout: requestMsMax, connectionTimeout: connectMsMax, throwOnRequestTimeout: true },
  });
  return new SqsEvents(api, queue);
}

class SqsEvents implements SourceEvents {
  readonly #api: SQS;
  readonly #name: string;
  #url: string | undefined;

  constructor(api: SQS, name: string) {
    this.#api = api;
    this.#name = name;
  }

  async receive(signal: AbortSignal): Promise<readonly SourceMessage[]> {
    if (signal.aborted) return [];
    try {
      this.#url ??= (await this.#api.getQueueUrl({ QueueName: this.#name }, { abortSignal: signal }))
        .QueueUrl as string;
      const request = {
        QueueUrl: this.#url,
        MaxNumberOfMessages: messagesMax,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibleSeconds,
      };
      const { Messages = [] } = await this.#api.receiveMessage(request, { abortSignal: signal });
      return Messages.map((message) => this.#message(message));
    } catch (error) {
      if (signal.aborted) return [];
      throw this.#error(error);
    }
  }

  async close(): Promise<void> {
    this.#api.destroy();
  }

  #message({ Body = "", ReceiptHandle }: Message): SourceMessage {
    const place = { QueueUrl: this.#url, ReceiptHandle };
    return {
      body: Body,
      done: async () => void (await this.#calling(this.#api.deleteMessage(place))),
      extend: async (ms) =>
        void (await this.#calling(
          this.#api.changeMessageVisibility({ ...place, VisibilityTimeout: Math.ceil(ms / 1_000) }),
        )),
    };
  }

  async #calling<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.#error(error);
    }
  }

  #error(error: unknown): PinakesError {
    const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return new PinakesError("UNAVAILABLE", `The queue of source events "${this.#name}" does not answer: ${said}`, {
      cause: error,
    });
  }
}
