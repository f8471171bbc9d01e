/**
 * Lines that are sent in the background, many at a time: metrics, tool invocations.
 *
 * - Each line gets its id and time when it is recorded. A flush whose answer was lost is repeated with the same lines, and the store
 *   knows them by their ids: nothing is lost and nothing is there twice.
 * - The buffer is bounded. When it is full `record` refuses the line, says so (false, `onError`), and `close` tells how many.
 * - A line that can never be stored (it is not valid) is given to `onError` and left out; all others wait until they are stored.
 */
import type { IngestResult, LineResult } from "../contract/common.ts";
import { clientError, PinakesClientError, toClientError } from "../errors.ts";

export interface RecorderOptions<Line> {
  /** How long a line may wait. 1,000 when absent. */
  readonly flushMs?: number | undefined;
  /** Lines in one call. 500 when absent, 10,000 at most. */
  readonly maxBatch?: number | undefined;
  /** Lines that wait or are under way. 10,000 when absent. */
  readonly maxBuffer?: number | undefined;
  /** Hears of calls that failed (they are repeated) and of lines that were refused (they are not). */
  readonly onError?: ((error: unknown, refused: readonly Line[]) => void) | undefined;
}

export interface Recorder<Line> extends AsyncDisposable {
  /** False when the buffer is full, and the line was not taken. */
  record(line: Line): boolean;
  /** Sends what was recorded so far; rejects when that failed (the lines stay, and are tried again). */
  flush(): Promise<void>;
  /** Flushes, and takes no more. Rejects when lines were lost: refused by the store, not taken, or not sent. */
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
      this.#lose(failure("LIMIT_EXCEEDED", `${why}; the line was not taken.`), [line]);
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
    // One at a time: a line that is under way is not sent beside itself. What came meanwhile is sent after it.
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
    // A recorder that waits does not keep a process alive; close() does what is left.
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

  /** Gives the refused lines to onError; answers those that may be stored later. */
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
