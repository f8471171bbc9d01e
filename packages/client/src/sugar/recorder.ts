/**
 * Sends lines in batches in the background: metrics, tool invocations.
 *
 * - Each line gets its id and time when it is recorded. A flush whose response was lost is repeated with the same lines, and the store
 *   recognises their ids: nothing is lost or duplicated.
 * - The buffer is bounded. If it is full, `record` rejects the line, reports it (false, `onError`), and `close` reports the number.
 * - An invalid line is passed to `onError` and dropped; all others wait until they are stored.
 */
import type { IngestResult, LineResult } from "../contract/common.ts";
import { clientError, PinakesClientError, toClientError } from "../errors.ts";

export interface RecorderOptions<Line> {
  /** Maximum delay of a line. Default 1,000. */
  readonly flushMs?: number | undefined;
  /** Lines per call. Default 500, maximum 10,000. */
  readonly maxBatch?: number | undefined;
  /** Lines waiting or in flight. Default 10,000. */
  readonly maxBuffer?: number | undefined;
  /** Hears of calls that failed (they are repeated) and of lines that were refused (they are not). */
  readonly onError?: ((error: unknown, refused: readonly Line[]) => void) | undefined;
}

export interface Recorder<Line> extends AsyncDisposable {
  /** False if the buffer is full and the line was rejected. */
  record(line: Line): boolean;
  /** Sends all lines recorded so far; rejects on failure (the lines are kept and retried). */
  flush(): Promise<void>;
  /** Flushes and closes. Rejects if lines were lost: rejected by the store or the buffer, or not sent. */
  close(): Promise<void>;
  /** Lines that are not stored yet. */
  readonly pending: number;
}

interface Identified {
  readonly id?: string;
  readonly timestamp?: string;
}

const flushMsDefault = 1_000;
const batchLinesDefault = 500;
const batchLinesMax = 10_000;
const bufferLinesDefault = 10_000;

export function createRecorder<Line extends Identified>(
  ingest: (lines: readonly Line[]) => Promise<IngestResult>,
  options: RecorderOptions<Line> = {},
): Recorder<Line> {
  return new BufferedRecorder(ingest, options);
}

class BufferedRecorder<Line extends Identified> implements Recorder<Line> {
  readonly #ingest: (lines: readonly Line[]) => Promise<IngestResult>;
  readonly #flushMs: number;
  readonly #maxBuffer: number;
  readonly #maxBatch: number;
  readonly #onError: (error: unknown, refused: readonly Line[]) => void;
  #lines: Line[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> | undefined;
  #lost = 0;
  /** Why the first of them. */
  #reason: unknown;
  #closed = false;

  constructor(ingest: (lines: readonly Line[]) => Promise<IngestResult>, options: RecorderOptions<Line>) {
    this.#ingest = ingest;
    this.#flushMs = checked("flushMs", options.flushMs ?? flushMsDefault, Number.MAX_SAFE_INTEGER);
    this.#maxBatch = checked("maxBatch", options.maxBatch ?? batchLinesDefault, batchLinesMax);
    this.#maxBuffer = checked("maxBuffer", options.maxBuffer ?? bufferLinesDefault, Number.MAX_SAFE_INTEGER);
    this.#onError = options.onError ?? (() => {});
  }

  get pending(): number {
    return this.#lines.length;
  }

  record(line: Line): boolean {
    if (this.#closed || this.#lines.length >= this.#maxBuffer) {
      const why = this.#closed
        ? "The recorder is closed"
        : `The recorder holds ${this.#maxBuffer} lines that are not stored yet`;
      this.#lose(failure("LIMIT_EXCEEDED", `${why}; the line was rejected.`), [line]);
      return false;
    }
    this.#lines.push({
      ...line,
      id: line.id ?? crypto.randomUUID(),
      timestamp: line.timestamp ?? new Date().toISOString(),
    });
    if (this.#lines.length >= this.#maxBatch) this.#inBackground();
    else this.#schedule();
    return true;
  }

  async flush(): Promise<void> {
    // One flush at a time, so that no line is sent twice concurrently. Lines recorded meanwhile are sent after it.
    while (this.#flushing !== undefined) await this.#flushing.catch(() => {});
    this.#flushing = this.#sendAll(this.#lines.length);
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
      if (this.#lines.length > 0 && !this.#closed) this.#schedule();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const cause = await this.flush().then(
      () => undefined,
      (error: unknown) =>
        error instanceof Error ? error : new Error("The lines could not be sent.", { cause: error }),
    );
    const lost = this.#lost + this.#lines.length;
    if (lost === 0) return;
    const why = cause ?? this.#reason;
    const told = why instanceof Error ? `: ${why.message.replace(/\.$/, "")}` : "";
    throw failure("INCOMPLETE", `${lost} recorded ${lost === 1 ? "line was" : "lines were"} not stored${told}.`, why);
  }

  #lose(error: unknown, lines: readonly Line[]): void {
    this.#lost += lines.length;
    this.#reason ??= error;
    this.#onError(error, lines);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#inBackground(), this.#flushMs);
    // A waiting recorder does not keep the process alive; close() sends the rest.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #inBackground(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Told to onError already, and the lines are still here.
    if (this.#flushing === undefined) this.flush().catch(() => {});
  }

  async #sendAll(count: number): Promise<void> {
    let left = count;
    let size = this.#maxBatch;
    while (left > 0) {
      const batch = this.#lines.slice(0, Math.min(size, left));
      try {
        const kept = this.#settle(batch, await this.#ingest(batch));
        left -= batch.length;
        this.#lines.splice(0, batch.length, ...kept);
        if (kept.length > 0)
          throw failure(
            "UNAVAILABLE",
            `${kept.length} lines could not be stored now; they are tried again.`,
            undefined,
            true,
          );
        size = this.#maxBatch;
      } catch (thrown) {
        const error = toClientError(thrown);
        if (!isAboutTheLines(error)) {
          this.#onError(error, []);
          throw error;
        }
        if (batch.length > 1) {
          size = Math.ceil(batch.length / 2); // One line, or too many of them, spoil the whole call: find out which.
          continue;
        }
        this.#lines.shift();
        left -= 1;
        this.#lose(error, batch);
      }
    }
  }

  /** Passes rejected lines to onError; returns those that may be stored later. */
  #settle(batch: readonly Line[], { lines }: IngestResult): Line[] {
    const failed = lines.filter(
      (line): line is LineResult & Required<Pick<LineResult, "error">> => line.error !== undefined,
    );
    const kept: Line[] = [];
    for (const { line, status, error } of failed) {
      const row = batch[line - 1] as Line;
      if (status === 429 || status >= 500) kept.push(row);
      else this.#lose(failure(error.code, error.detail), [row]);
    }
    return kept;
  }
}

function isAboutTheLines(error: unknown): boolean {
  return PinakesClientError.isInstance(error) && (error.code === "INVALID" || error.code === "LIMIT_EXCEEDED");
}

function checked(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw failure(
    "INVALID",
    `${name}: must be a whole number from 1${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}, got ${String(value)}.`,
  );
}

function failure(code: string, detail: string, cause?: unknown, retryable = false): PinakesClientError {
  return clientError({ code, status: 0, detail, retryable, cause });
}
