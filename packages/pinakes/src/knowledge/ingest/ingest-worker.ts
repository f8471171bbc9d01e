/**
 * Takes documents from the lanes of all workspaces and ingests several at once. Transient failures are retried, permanent ones are reported
 * at once.
 *
 * A worker decides which workspace is next (lanes.ts), but not how long a document takes. So a message of a workspace below its fair share
 * is received even if all slots are in use; if no slot becomes free within `yieldMs`, the youngest document of the workspace with the most
 * slots is interrupted and returns to its lane without a failed attempt. No workspace is interrupted for one that has as much: each keeps
 * its share, and its oldest documents finish. With a single slot nothing is interrupted.
 */
import { errorCodeOf, hasCode } from "../../domain/errors.ts";
import { reasonOf } from "../../domain/log.ts";
import type { ReceivedMessage } from "../../ports/queue.ts";
import type { Activity } from "../activity.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { attemptsMax, Overtaken, type DocumentIngester, type Ingestion } from "./ingest-document.ts";
import { readMessage, type IngestQueue } from "../documents/ingest-queue.ts";
import type { Lane } from "../documents/lanes.ts";
import { removeLeftovers } from "../documents/removals.ts";

const leaseMs = 60_000;
const beatMs = 15_000;
const retryMsMax = 60_000;
/** Longer than most documents take, so that they finish before one is interrupted. Far below the lease of the waiting message. */
const yieldMsDefault = 5_000;
const pauseMsMin = 10;

export interface IngestMetrics {
  indexed: number;
  failed: number;
  retried: number;
  /** Interrupted because another workspace waited for its share of the slots. */
  yielded: number;
  active: number;
  lastError?: string;
}

/** Interrupts a document whose slot another workspace is entitled to. */
class Yielded extends Error {}

interface Work {
  readonly lane: Lane;
  readonly interrupt: AbortController;
  /** It gave up its slot and has not ended yet. */
  leaving: boolean;
}

interface Guest {
  readonly lane: Lane;
  readonly message: ReceivedMessage;
  /** When a document is interrupted for it, in monotonic milliseconds. */
  readonly until: number;
}

export interface IngestWorkerOptions {
  readonly owner: string;
  readonly slots: number;
  readonly activity: Activity;
  readonly yieldMs?: number | undefined;
}

export class IngestWorker {
  readonly metrics: IngestMetrics = { indexed: 0, failed: 0, retried: 0, yielded: 0, active: 0 };
  readonly #deps: KnowledgeDependencies;
  readonly #queue: IngestQueue;
  readonly #ingester: DocumentIngester;
  readonly #owner: string;
  readonly #slots: number;
  readonly #yieldMs: number;
  readonly #activity: Activity;
  /** In the order in which they started. */
  readonly #works = new Set<Work>();
  readonly #active = new Set<Promise<void>>();
  #guest: Guest | undefined;

  constructor(
    deps: KnowledgeDependencies,
    queue: IngestQueue,
    ingester: DocumentIngester,
    options: IngestWorkerOptions,
  ) {
    this.#deps = deps;
    this.#queue = queue;
    this.#ingester = ingester;
    this.#owner = options.owner;
    this.#slots = options.slots;
    this.#yieldMs = options.yieldMs ?? yieldMsDefault;
    this.#activity = options.activity;
  }

  /**
   * Until the signal; then documents in progress return to the queue. `looked` is called after every poll of the lanes, with the number of
   * messages found.
   */
  async run(signal: AbortSignal, looked: (found: number) => void = () => {}): Promise<void> {
    const { lanes } = this.#queue;
    try {
      for (let anew = true; !signal.aborted; anew = false) {
        const seen = lanes.rings;
        await lanes.refresh(anew);
        const found = await this.#look(signal);
        looked(found);
        if (found === 0)
          await lanes.pause(
            seen,
            this.#guest === undefined ? Infinity : Math.max(pauseMsMin, this.#guest.until - performance.now()),
            signal,
          );
      }
    } finally {
      await this.#returnGuest();
      await Promise.allSettled(this.#active);
    }
  }

  /** Receives messages while slots are free, lane by lane; returns how many messages moved on. */
  async #look(signal: AbortSignal): Promise<number> {
    const { lanes, queue, scope } = this.#queue;
    let found = this.#seatGuest(signal) ? 1 : 0;
    while (!signal.aborted && this.#guest === undefined) {
      const isFull = this.#free === 0;
      const lane = lanes.next(({ held }) => held < (isFull ? lanes.mostRunning - 1 : this.#slots));
      if (lane === undefined) break;
      const [message] = await queue.receive(scope, lane.queue, {
        max: 1,
        owner: this.#owner,
        leaseMs,
        waitMs: 0,
        signal,
      });
      if (message === undefined) {
        lanes.foundEmpty(lane);
        continue;
      }
      lanes.served(lane);
      found += 1;
      // A slot may have become free meanwhile.
      if (this.#free > 0) this.#begin(lane, message, signal);
      else this.#guest = { lane, message, until: performance.now() + this.#yieldMs };
    }
    return found;
  }

  get #free(): number {
    let free = this.#slots;
    for (const { leaving } of this.#works) if (!leaving) free -= 1;
    return free;
  }

  /** Whether the waiting message got a slot: a free one, or that of a document interrupted for it. */
  #seatGuest(signal: AbortSignal): boolean {
    const guest = this.#guest;
    if (guest === undefined) return false;
    if (this.#free === 0) {
      if (performance.now() < guest.until) return false;
      const most = this.#queue.lanes.mostRunning;
      const youngest = [...this.#works].findLast(
        ({ lane, leaving }) => !leaving && lane.running === most && most > guest.lane.held + 1,
      );
      if (youngest === undefined) return false;
      youngest.leaving = true;
      youngest.lane.running -= 1;
      this.metrics.yielded += 1;
      youngest.interrupt.abort(new Yielded("another workspace waits for its share of the workers"));
    }
    this.#guest = undefined;
    this.#begin(guest.lane, guest.message, signal);
    return true;
  }

  async #returnGuest(): Promise<void> {
    const guest = this.#guest;
    this.#guest = undefined;
    if (guest === undefined) return;
    // A message that cannot be released is redelivered when its lease expires.
    await this.#queue.queue.release(this.#queue.scope, guest.message.receipt).catch((error: unknown) => {
      this.#deps.log(`${aboutMessage(guest.message)} could not be returned to its queue: ${reasonOf(error)}`, "warn", {
        message: guest.message.id,
      });
    });
  }

  #begin(lane: Lane, message: ReceivedMessage, stop: AbortSignal): void {
    const work: Work = { lane, interrupt: new AbortController(), leaving: false };
    this.#works.add(work);
    lane.held += 1;
    lane.running += 1;
    const handled = this.#handle(message, work, stop).finally(() => {
      lane.held -= 1;
      if (!work.leaving) lane.running -= 1;
      this.#works.delete(work);
      this.#active.delete(handled);
      this.#queue.lanes.ring();
    });
    this.#active.add(handled);
  }

  async #handle(message: ReceivedMessage, { lane, interrupt }: Work, stop: AbortSignal): Promise<void> {
    this.metrics.active += 1;
    const signal = AbortSignal.any([stop, interrupt.signal]);
    const beat = setInterval(() => this.#beat(message, interrupt), beatMs);
    try {
      await this.#work(message, lane, signal);
    } catch (error) {
      // The message is redelivered when its lease expires.
      this.metrics.lastError = error instanceof Error ? error.message : String(error);
      this.#deps.log(`ingestion of ${aboutMessage(message)} stopped and will be retried: ${reasonOf(error)}`, "error", {
        message: message.id,
      });
    } finally {
      clearInterval(beat);
      this.metrics.active -= 1;
    }
  }

  #beat(message: ReceivedMessage, lost: AbortController): void {
    this.#queue.queue.heartbeat(this.#queue.scope, message.receipt).catch((error: unknown) => {
      if (hasCode(error, "PRECONDITION_FAILED")) lost.abort(new Overtaken("another worker has the document"));
    });
  }

  async #work(message: ReceivedMessage, lane: Lane, signal: AbortSignal): Promise<void> {
    const { queue, scope } = this.#queue;
    const { tenant, document_id, run, ...place } = readMessage(message);
    const partition = new CollectionPartition(this.#deps.items, this.#deps.system.forTenant(tenant), place);
    const work: Ingestion = {
      partition,
      documentId: document_id,
      run,
      signal,
      alive: async () => signal.throwIfAborted(),
    };
    try {
      const done = await this.#ingester.ingest(work);
      if (done !== undefined) {
        this.metrics.indexed += 1;
        this.#activity.add(partition.scope, { documents_indexed: 1 });
      }
      await removeLeftovers(this.#deps, partition, signal);
      await queue.done(scope, message.receipt);
    } catch (error) {
      if (error instanceof Overtaken || signal.reason instanceof Overtaken)
        return queue.done(scope, message.receipt).catch(() => {});
      if (signal.aborted) return this.#giveBack(message, lane, work);
      await this.#failed(message, lane, work, error);
    }
  }

  /** The process is stopping, or another workspace is entitled to the slot. */
  async #giveBack(message: ReceivedMessage, lane: Lane, work: Ingestion): Promise<void> {
    // If that fails the attempt counts, as after a crash.
    await this.#ingester.giveBack(work).catch((error: unknown) => {
      this.#deps.log(`the interrupted attempt of ${aboutMessage(message)} counts as one: ${reasonOf(error)}`, "warn", {
        message: message.id,
      });
    });
    await this.#queue.queue.release(this.#queue.scope, message.receipt);
    this.#queue.lanes.expect(lane.queue);
  }

  async #failed(message: ReceivedMessage, lane: Lane, work: Ingestion, error: unknown): Promise<void> {
    const { queue, scope } = this.#queue;
    const reason = error instanceof Error ? error.message : String(error);
    this.metrics.lastError = reason;
    const final = hasCode(error, "INVALID", "LIMIT_EXCEEDED", "NOT_SUPPORTED");
    const attempts = (await work.partition.read(work.documentId))?.record.attempts ?? attemptsMax;
    this.#tell(work, reason, { attempt: attempts, over: final || attempts >= attemptsMax });
    if (final || attempts >= attemptsMax) {
      await this.#ingester.fail(
        work,
        final ? reason : `Failed after ${attempts} attempts. Last error: ${reason}`,
        errorCodeOf(error),
      );
      this.metrics.failed += 1;
      this.#activity.add(work.partition.scope, { documents_failed: 1 });
      return queue.done(scope, message.receipt);
    }
    await this.#ingester.note(work, reason);
    this.metrics.retried += 1;
    const retryInMs = Math.min(retryMsMax, 1_000 * 2 ** (attempts - 1));
    await queue.release(scope, message.receipt, { retryInMs });
    this.#queue.lanes.expect(lane.queue, retryInMs);
  }

  /** One line per failed attempt: what failed, where, and why. */
  #tell(
    { partition, documentId }: Ingestion,
    reason: string,
    { attempt, over }: { readonly attempt: number; readonly over: boolean },
  ): void {
    const { repository_id, collection_id } = partition.key;
    const { tenant } = partition.scope;
    const line = `document ${documentId} of ${tenant}/${repository_id}/${collection_id} failed (attempt ${attempt}${over ? "" : ", will be retried"}): ${reasonOf(reason)}`;
    const fields = { workspace: tenant, repository_id, collection_id, document_id: documentId, attempt };
    this.#deps.log(line, over ? "error" : "warn", fields);
  }
}

function aboutMessage(message: ReceivedMessage): string {
  try {
    const { tenant, repository_id, collection_id, document_id } = readMessage(message);
    return `document ${document_id} of ${tenant}/${repository_id}/${collection_id}`;
  } catch {
    return `message ${message.id}`;
  }
}
