/**
 * Receives messages of a topic and completes each: done after handling; a dead letter if malformed; otherwise retried a bounded number of
 * times. A long-running handler extends its lease and reports that it is still working.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { Queue, ReceivedMessage } from "../ports/queue.ts";
import { Malformed } from "./messages.ts";

const leaseMs = 60_000;
const beatMs = 15_000;
const messagesMax = 10;

export interface Take {
  readonly topic: string;
  readonly handle: (body: JsonValue, signal: AbortSignal) => Promise<void>;
  /** Called periodically while a message is handled. */
  readonly alive?: (body: JsonValue) => Promise<void>;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export class Consumer {
  readonly #queue: Queue;
  readonly #scope: Scope;
  readonly #owner: string;
  readonly #malformed: () => void;

  constructor(queue: Queue, scope: Scope, owner: string, malformed: () => void) {
    this.#queue = queue;
    this.#scope = scope;
    this.#owner = owner;
    this.#malformed = malformed;
  }

  /** Returns the number of messages received. */
  async take(take: Take): Promise<number> {
    const { topic, waitMs, signal } = take;
    const messages = await this.#queue.receive(this.#scope, topic, {
      max: messagesMax,
      owner: this.#owner,
      leaseMs,
      waitMs,
      signal,
    });
    await Promise.all(messages.map((message) => this.#end(message, take)));
    return messages.length;
  }

  async #end(message: ReceivedMessage, { handle, alive, signal }: Take): Promise<void> {
    const beat = setInterval(() => {
      // If the lease is lost another consumer handles it too, which is harmless: every step is idempotent.
      void this.#queue.heartbeat(this.#scope, message.receipt).catch(() => {});
      void alive?.(message.body).catch(() => {});
    }, beatMs);
    try {
      await handle(message.body, signal);
      await this.#queue.done(this.#scope, message.receipt);
    } catch (error) {
      await this.#failed(message, error, signal);
    } finally {
      clearInterval(beat);
    }
  }

  async #failed({ receipt }: ReceivedMessage, error: unknown, signal: AbortSignal): Promise<void> {
    const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
    try {
      if (signal.aborted) await this.#queue.release(this.#scope, receipt);
      else if (error instanceof Malformed) {
        this.#malformed();
        // Fails immediately until it becomes a dead letter: a delay would not help.
        await this.#queue.failed(this.#scope, receipt, { reason, retryInMs: 0 });
      } else await this.#queue.failed(this.#scope, receipt, { reason });
    } catch {
      // The message is redelivered when its lease expires.
    }
  }
}
