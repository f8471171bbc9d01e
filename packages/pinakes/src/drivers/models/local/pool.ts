/**
 * Threads that embed. Each is started by the first text that finds no idle one, so a process that only embeds queries has one model in
 * memory and one that never embeds has none. A crashed thread is replaced when there is work again.
 *
 * Invariant: every call ends, with all of its vectors in order or with an error.
 */
import { availableParallelism } from "node:os";
import { invalid, PinakesError } from "../../../domain/errors.ts";
import { threadScript } from "../../../runtime/thread.ts";
import type { EmbedOptions } from "../../../ports/embedder.ts";
import { Job, JobQueue } from "./job-queue.ts";
import type { ThreadData } from "./messages.ts";
import { ModelWorker, type Outcome } from "./model-worker.ts";

const threadsMax = 64;

export interface PoolOptions extends ThreadData {
  readonly threads?: number | undefined;
  /** For tests: the script that the threads run. */
  readonly script?: URL | undefined;
}

export class EmbedPool {
  readonly #data: ThreadData;
  readonly #threadsMax: number;
  readonly #script: URL;
  readonly #workers = new Set<ModelWorker>();
  readonly #queue = new JobQueue();
  #closed = false;

  constructor({ threads = availableParallelism(), script, ...data }: PoolOptions) {
    if (!Number.isSafeInteger(threads) || threads < 1)
      throw invalid(`threads: must be a whole number from 1 to ${threadsMax}, got ${threads}.`);
    this.#threadsMax = Math.min(threads, threadsMax);
    this.#data = data;
    this.#script = script ?? threadScript(import.meta.url, "model-thread");
  }

  /** Running threads. */
  get threads(): number {
    return this.#workers.size;
  }

  async embed(
    texts: readonly string[],
    { kind = "document", signal }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    if (this.#closed) throw closed();
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    const job = new Job(texts, kind);
    this.#queue.add(job);
    const onAbort = (): void => {
      this.#queue.remove(job); // Immediately: its texts must not be taken any more.
      job.result.reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      this.#pump();
      return await job.result.promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#queue.remove(job);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.rejectAll(closed());
    await Promise.all([...this.#workers].map((worker) => worker.close()));
  }

  #pump(): void {
    while (this.#queue.waiting && !this.#closed) {
      const worker = this.#idle();
      const next = worker === undefined ? undefined : this.#queue.take();
      if (worker === undefined || next === undefined) return;
      void this.#run(worker, next.job, next.index);
    }
  }

  #idle(): ModelWorker | undefined {
    for (const worker of this.#workers) if (!worker.busy) return worker;
    if (this.#workers.size >= this.#threadsMax) return undefined;
    const worker: ModelWorker = new ModelWorker(this.#script, this.#data, () => this.#workers.delete(worker));
    this.#workers.add(worker);
    return worker;
  }

  async #run(worker: ModelWorker, job: Job, index: number): Promise<void> {
    const outcome = await worker.embed(job.texts[index] as string);
    if (outcome.kind === "failed") this.#forget(worker, outcome.error);
    else if (this.#queue.has(job)) this.#settle(job, index, outcome);
    this.#pump();
  }

  #settle(job: Job, index: number, outcome: Exclude<Outcome, { readonly kind: "failed" }>): void {
    if (outcome.kind === "vector") {
      job.done(index, outcome.vector);
    } else if (outcome.kind === "stopped" && job.tryAgain(index)) {
      this.#queue.again(job);
    } else {
      this.#queue.remove(job);
      job.result.reject(outcome.error);
    }
  }

  /** Without a model no waiting call can be served. The next call tries to load it again. */
  #forget(worker: ModelWorker, error: PinakesError): void {
    this.#workers.delete(worker);
    this.#queue.rejectAll(error);
  }
}

function closed(): PinakesError {
  return new PinakesError("UNAVAILABLE", "The embedder is closed.", { retryable: false });
}
