/** Takes documents from the queue and ingests several at a time. What fails for a reason that may pass is tried again, what cannot is said at once. */
import { PinakesError } from "../../domain/errors.ts";
import type { ReceivedMessage } from "../../ports/queue.ts";
import type { Activity } from "../activity.ts";
import { Shelf } from "../documents/shelf.ts";
import type { KnowledgeParts } from "../parts.ts";
import { attemptsMax, Overtaken, type DocumentIngester, type Ingestion } from "./ingest-document.ts";
import { documentsQueue, readMessage, type IngestQueue } from "./ingest-queue.ts";
import { removeLeftovers } from "./removals.ts";

const leaseMs = 60_000;
const beatMs = 15_000;
const waitMs = 20_000;
/** While others are worked on: how long a free place waits before it looks whether it should end. */
const busyWaitMs = 1_000;
const retryMsMax = 60_000;

export interface IngestMetrics {
  indexed: number;
  failed: number;
  retried: number;
  active: number;
  lastError?: string;
}

export class IngestWorker {
  readonly metrics: IngestMetrics = { indexed: 0, failed: 0, retried: 0, active: 0 };
  readonly #parts: KnowledgeParts;
  readonly #queue: IngestQueue;
  readonly #ingester: DocumentIngester;
  readonly #owner: string;
  readonly #places: number;
  readonly #activity: Activity;

  constructor(
    parts: KnowledgeParts,
    queue: IngestQueue,
    ingester: DocumentIngester,
    options: { readonly owner: string; readonly places: number; readonly activity: Activity },
  ) {
    this.#parts = parts;
    this.#queue = queue;
    this.#ingester = ingester;
    this.#owner = options.owner;
    this.#places = options.places;
    this.#activity = options.activity;
  }

  /** Until the signal; then what is under way is given back to the queue. */
  async run(signal: AbortSignal): Promise<void> {
    const active = new Set<Promise<void>>();
    try {
      while (!signal.aborted) {
        const free = this.#places - active.size;
        if (free === 0) {
          await Promise.race(active);
          continue;
        }
        const messages = await this.#queue.queue.receive(this.#queue.scope, documentsQueue, {
          max: free,
          owner: this.#owner,
          leaseMs,
          waitMs: active.size > 0 ? busyWaitMs : waitMs,
          signal,
        });
        for (const message of messages) {
          const handled = this.#handle(message, signal).finally(() => active.delete(handled));
          active.add(handled);
        }
      }
    } finally {
      await Promise.allSettled(active);
    }
  }

  async #handle(message: ReceivedMessage, stop: AbortSignal): Promise<void> {
    this.metrics.active += 1;
    const lost = new AbortController();
    const signal = AbortSignal.any([stop, lost.signal]);
    const beat = setInterval(() => this.#beat(message, lost), beatMs);
    try {
      await this.#work(message, signal, stop);
    } catch (error) {
      // The message comes back when its lease runs out.
      this.metrics.lastError = error instanceof Error ? error.message : String(error);
      this.#parts.log(`document of message ${message.id}: ${this.metrics.lastError}`);
    } finally {
      clearInterval(beat);
      this.metrics.active -= 1;
    }
  }

  #beat(message: ReceivedMessage, lost: AbortController): void {
    this.#queue.queue.heartbeat(this.#queue.scope, message.receipt).catch((error: unknown) => {
      if (PinakesError.isInstance(error) && error.code === "PRECONDITION_FAILED") lost.abort(new Overtaken("another worker has the document"));
    });
  }

  async #work(message: ReceivedMessage, signal: AbortSignal, stop: AbortSignal): Promise<void> {
    const { queue, scope } = this.#queue;
    const { tenant, document_id, run, ...place } = readMessage(message);
    const shelf = new Shelf(this.#parts.items, this.#parts.system.forTenant(tenant), place);
    const work: Ingestion = { shelf, documentId: document_id, run, signal, alive: async () => signal.throwIfAborted() };
    try {
      const done = await this.#ingester.ingest(work);
      if (done !== undefined) {
        this.metrics.indexed += 1;
        this.#activity.add(shelf.scope, { documents_indexed: 1 });
      }
      await removeLeftovers(this.#parts, shelf, signal);
      await queue.done(scope, message.receipt);
    } catch (error) {
      if (error instanceof Overtaken || signal.reason instanceof Overtaken) return queue.done(scope, message.receipt).catch(() => {});
      if (stop.aborted) return queue.release(scope, message.receipt);
      await this.#failed(message, work, error);
    }
  }

  async #failed(message: ReceivedMessage, work: Ingestion, error: unknown): Promise<void> {
    const { queue, scope } = this.#queue;
    const reason = error instanceof Error ? error.message : String(error);
    this.metrics.lastError = reason;
    const final = PinakesError.isInstance(error) && ["INVALID", "LIMIT_EXCEEDED", "NOT_SUPPORTED"].includes(error.code);
    const attempts = (await work.shelf.read(work.documentId))?.record.attempts ?? attemptsMax;
    if (final || attempts >= attemptsMax) {
      await this.#ingester.fail(work, final ? reason : `Given up after ${attempts} tries. The last one: ${reason}`);
      this.metrics.failed += 1;
      this.#activity.add(work.shelf.scope, { documents_failed: 1 });
      return queue.done(scope, message.receipt);
    }
    await this.#ingester.note(work, reason);
    this.metrics.retried += 1;
    await queue.release(scope, message.receipt, { retryInMs: Math.min(retryMsMax, 1_000 * 2 ** (attempts - 1)) });
  }
}
