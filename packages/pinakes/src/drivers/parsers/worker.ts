/**
 * One thread that parses one file at a time, within limits. A file that takes too long, too much memory or crashes the parser costs its
 * thread, never the process; the pool then starts another.
 */
import { PinakesError, invalid } from "../../domain/errors.ts";
import { Thread, threadScript } from "../../runtime/thread.ts";
import { receiveError } from "../../runtime/sent-error.ts";
import type { ParsedText, ParseInput } from "../../ports/parser.ts";
import { parserLimits } from "./limits.ts";
import type { ParseAnswer, ParseOrder } from "./parse-thread.ts";

export interface WorkerLimits {
  readonly parseMsMax: number;
  readonly memoryMbMax: number;
}

/** How often a busy thread reports its buffers, which V8's own limit does not count. */
const memoryCheckMs = 250;

export class ParseWorker {
  readonly #thread: Thread<ParseAnswer>;
  readonly #limits: WorkerLimits;
  readonly #ready = Promise.withResolvers<void>();
  #started = false;
  #call: number | undefined;

  constructor(limits: WorkerLimits) {
    this.#limits = limits;
    this.#thread = new Thread(threadScript(import.meta.url, "parse-thread"), {
      name: "pinakes parse",
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMbMax },
      // The environment of this process is irrelevant to the libraries, and may contain secrets.
      env: {},
      onMessage: (message) => this.#receive(message),
      onExit: (cause) => this.#crashed(cause),
    });
  }

  get ended(): boolean {
    return this.#thread.ended !== undefined;
  }

  /** Rejects with the parser's error, or with the signal's reason as soon as it is aborted; then the thread is gone. */
  async parse(input: ParseInput, signal?: AbortSignal): Promise<ParsedText> {
    const { call, promise } = this.#thread.open<ParsedText>();
    this.#call = call;
    const onAbort = () => void this.stop(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    let timer: NodeJS.Timeout | undefined;
    let watch: NodeJS.Timeout | undefined;
    try {
      // The time to start a thread does not count against the file.
      await Promise.race([this.#ready.promise, promise]);
      const ms = parseMs(input.bytes.length, this.#limits);
      timer = setTimeout(() => void this.stop(tooSlow(ms)), ms);
      watch = setInterval(() => void this.#checkMemory(), memoryCheckMs);
      this.#send(input);
      return await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener("abort", onAbort);
      this.#call = undefined;
    }
  }

  /** Ends the thread; the running parse fails with this reason. */
  async stop(reason: unknown): Promise<void> {
    if (this.#call !== undefined) this.#thread.reject(this.#call, reason);
    this.#thread.refuseAll(unavailable());
    await this.#thread.terminate();
  }

  /** A copy, made only now and transferred: the caller's bytes stay the caller's, and no larger buffer around them is sent. */
  #send({ bytes, fileType }: ParseInput): void {
    const copy = new Uint8Array(bytes);
    this.#thread.post({ bytes: copy, fileType } satisfies ParseOrder, [copy.buffer]);
  }

  #receive(message: ParseAnswer): void {
    if (message.kind === "ready") {
      this.#started = true;
      this.#ready.resolve();
    } else if (this.#call === undefined) return;
    else if (message.kind === "parsed") this.#thread.resolve(this.#call, message.parsed);
    else this.#thread.reject(this.#call, receiveError(message.error));
  }

  async #checkMemory(): Promise<void> {
    const call = this.#call;
    try {
      const { external_memory: externalBytes } = await this.#thread.heapStatistics();
      if (externalBytes > this.#limits.memoryMbMax * 1024 ** 2 && this.#call === call && call !== undefined)
        await this.stop(tooLarge(this.#limits));
    } catch {
      // The thread ended before it could answer. Its own events tell why, and no message from here may precede them.
    }
  }

  #crashed(error: unknown): PinakesError {
    // Before it has received a file, no file is to blame.
    if (!this.#started)
      return new PinakesError("INTERNAL", `The thread that parses files could not start: ${String(error)}`, {
        cause: error,
      });
    if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
      return tooLarge(this.#limits);
    return invalid(
      "The file crashed the parser; it is probably damaged. Save it again and upload it again, or upload it as .txt.",
      { cause: error },
    );
  }
}

/** A small file has less time, so that a file made to be slow is detected soon. */
export function parseMs(bytes: number, { parseMsMax }: Pick<WorkerLimits, "parseMsMax">): number {
  const { parseMsLeast, parseMsPerMb } = parserLimits;
  return Math.min(parseMsMax, parseMsLeast + Math.ceil((bytes / 1024 ** 2) * parseMsPerMb));
}

function tooSlow(ms: number): PinakesError {
  return invalid(
    `Reading the file took longer than ${ms.toLocaleString("en-US")} ms, so it was stopped. Split the file into smaller ones, or upload it as .txt.`,
  );
}

function tooLarge({ memoryMbMax }: WorkerLimits): PinakesError {
  return invalid(
    `Reading the file needs more than ${memoryMbMax.toLocaleString("en-US")} MB of memory, so it was stopped. Split the file into smaller ones.`,
  );
}

function unavailable(): PinakesError {
  return new PinakesError("UNAVAILABLE", "The parser is closed.", { retryable: false });
}
