/**
 * The queue of texts to embed. Queries go before documents, so that a search does not wait behind an ingestion; calls of the same kind take
 * turns, one text at a time, so that a small one does not wait behind a large one.
 *
 * Bounded: a call that would exceed `textsMax` unfinished texts is rejected. Callers await their calls, which gives backpressure.
 */
import { PinakesError } from "../../../domain/errors.ts";

/** Some minutes of work for one core. */
export const textsMax = 10_000;

export class Job {
  readonly texts: readonly string[];
  readonly kind: "document" | "query";
  readonly result = Promise.withResolvers<readonly Float32Array[]>();
  readonly #vectors: Float32Array[];
  /** Texts that were sent to a crashed thread. */
  readonly #again: number[] = [];
  readonly #tried = new Set<number>();
  #next = 0;
  #missing: number;

  constructor(texts: readonly string[], kind: "document" | "query") {
    this.texts = texts;
    this.kind = kind;
    this.#vectors = Array.from({ length: texts.length });
    this.#missing = texts.length;
  }

  get waiting(): boolean {
    return this.#again.length > 0 || this.#next < this.texts.length;
  }

  take(): number {
    const again = this.#again.pop();
    if (again !== undefined) return again;
    this.#next += 1;
    return this.#next - 1;
  }

  done(index: number, vector: Float32Array): void {
    this.#vectors[index] = vector;
    this.#missing -= 1;
    if (this.#missing === 0) this.result.resolve(this.#vectors);
  }

  /** A text gets one retry with another thread; a second crash is probably its own fault. */
  tryAgain(index: number): boolean {
    if (this.#tried.has(index)) return false;
    this.#tried.add(index);
    this.#again.push(index);
    return true;
  }
}

export class JobQueue {
  readonly #jobs = new Set<Job>();
  /** Jobs with texts that no thread has yet. */
  readonly #waiting = { query: [] as Job[], document: [] as Job[] };
  readonly #texts = { query: 0, document: 0 };

  has(job: Job): boolean {
    return this.#jobs.has(job);
  }

  add(job: Job): void {
    const { kind, texts } = job;
    if (texts.length > textsMax) {
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `A call may embed at most ${textsMax} texts, got ${texts.length}. Split it.`,
      );
    }
    if (this.#texts[kind] + texts.length > textsMax) {
      throw new PinakesError(
        "THROTTLED",
        `More than ${textsMax} texts would wait to be embedded in this process. Wait for earlier calls to end.`,
      );
    }
    this.#jobs.add(job);
    this.#texts[kind] += texts.length;
    this.#waiting[kind].push(job);
  }

  get waiting(): boolean {
    return this.#waiting.query.length > 0 || this.#waiting.document.length > 0;
  }

  take(): { readonly job: Job; readonly index: number } | undefined {
    const jobs = this.#waiting.query.length > 0 ? this.#waiting.query : this.#waiting.document;
    const job = jobs.shift();
    if (job === undefined) return undefined;
    const index = job.take();
    if (job.waiting) jobs.push(job);
    return { job, index };
  }

  again(job: Job): void {
    if (!this.#waiting[job.kind].includes(job)) this.#waiting[job.kind].unshift(job);
  }

  /** Ended: done, failed or aborted. */
  remove(job: Job): void {
    if (!this.#jobs.delete(job)) return;
    this.#texts[job.kind] -= job.texts.length;
    const waiting = this.#waiting[job.kind];
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
  }

  rejectAll(error: PinakesError): void {
    for (const job of this.#jobs) {
      this.remove(job);
      job.result.reject(error);
    }
  }
}
