/**
 * Takes messages from a topic and ends each: done when it was handled, a dead letter when nobody will ever understand it, tried again a
 * bounded number of times otherwise. A message that takes long keeps its lease, and says that somebody is at it.
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
  /** Told now and then while a message is worked on. */
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

  /** How many there were. */
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
      // Without the lease somebody else works on it too, which does no harm: every step can be repeated.
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
        // At once, until the queue gives it up: trying later would not make it better.
        await this.#queue.failed(this.#scope, receipt, { reason, retryInMs: 0 });
      } else await this.#queue.failed(this.#scope, receipt, { reason });
    } catch {
      // The message comes back when its lease runs out.
    }
  }
}
