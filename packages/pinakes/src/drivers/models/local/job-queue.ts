/**
 * What waits to be embedded. Queries go before documents, so that a search does not wait behind an ingestion; among calls of a kind
 * every call gets its turn, one text at a time, so that a small one does not wait behind a large one.
 *
 * Bounded: a call that would make more than `textsMax` texts unfinished is refused. Callers await their calls and so are held back.
 */
import { PinakesError } from "../../../domain/errors.ts";

/** Some minutes of work for one core. */
export const textsMax = 10_000;

export class Job {
  readonly texts: readonly string[];
  readonly kind: "document" | "query";
  readonly result = Promise.withResolvers<readonly Float32Array[]>();
  readonly #vectors: Float32Array[];
  /** Texts that were given to a thread that stopped. */
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

  /** A text gets one more chance with another thread; a second crash is likely its own doing. */
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

  /** Ended: done, refused or given up. */
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
