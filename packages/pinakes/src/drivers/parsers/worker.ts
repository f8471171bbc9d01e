/**
 * One thread that parses one file at a time, within limits. A file that takes too long, too much memory or crashes the parser costs its
 * thread, never the process; the pool then starts another.
 */
import { Worker } from "node:worker_threads";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { ParsedText, ParseInput } from "../../ports/parser.ts";
import { parserLimits } from "./limits.ts";
import type { ParseAnswer, ParseOrder } from "./parse-thread.ts";

export interface WorkerLimits {
  readonly parseMsMax: number;
  readonly memoryMbMax: number;
}

/** How often a busy thread is asked for its buffers, which V8's own limit does not count. */
const memoryCheckMs = 250;

export class ParseWorker {
  readonly #worker: Worker;
  readonly #limits: WorkerLimits;
  readonly #ready = Promise.withResolvers<void>();
  #started = false;
  #job: PromiseWithResolvers<ParsedText> | undefined;
  #ended: PinakesError | undefined;

  constructor(limits: WorkerLimits) {
    this.#limits = limits;
    const script = new URL(
      import.meta.url.endsWith(".ts") ? "./parse-thread.ts" : "./parse-thread.js",
      import.meta.url,
    );
    this.#worker = new Worker(script, {
      name: "pinakes parse",
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMbMax },
      // Neither the flags nor the settings of this process concern the libraries, and secrets may be among them.
      execArgv: [],
      env: {},
    });
    this.#worker.on("message", (message: ParseAnswer) => this.#receive(message));
    this.#worker.on("error", (error) => this.#end(this.#crashed(error)));
    this.#worker.on("exit", () => this.#end(this.#crashed(undefined)));
    // A thread that never starts is told to whoever waits for it, if anybody does.
    this.#ready.promise.catch(() => undefined);
    // The process may end while no file is being parsed.
    this.#worker.unref();
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Rejects when the file is refused, and with the signal's reason as soon as it is aborted; then the thread is gone. */
  async parse(input: ParseInput, signal?: AbortSignal): Promise<ParsedText> {
    this.#worker.ref();
    const onAbort = () => void this.stop(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#job = Promise.withResolvers<ParsedText>();
    let timer: NodeJS.Timeout | undefined;
    let watch: NodeJS.Timeout | undefined;
    try {
      // The time to start a thread is not the file's fault.
      await Promise.race([this.#ready.promise, this.#job.promise]);
      const ms = parseMs(input.bytes.length, this.#limits);
      timer = setTimeout(() => void this.stop(tooSlow(ms)), ms);
      watch = setInterval(() => void this.#checkMemory(), memoryCheckMs);
      this.#send(input);
      return await this.#job.promise;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener("abort", onAbort);
      this.#job = undefined;
      this.#worker.unref();
    }
  }

  /** Ends the thread; the file in work is refused with this reason. */
  async stop(reason: unknown): Promise<void> {
    this.#ended ??= unavailable();
    this.#job?.reject(reason);
    await this.#worker.terminate();
  }

  /** A copy, made only now and handed over whole: the caller's bytes stay the caller's, and no larger buffer around them is sent. */
  #send({ bytes, fileType }: ParseInput): void {
    const copy = new Uint8Array(bytes);
    this.#worker.postMessage({ bytes: copy, fileType } satisfies ParseOrder, [copy.buffer]);
  }

  #receive(message: ParseAnswer): void {
    if (message.kind === "ready") {
      this.#started = true;
      this.#ready.resolve();
    } else if (message.kind === "parsed") this.#job?.resolve(message.parsed);
    else this.#job?.reject(new PinakesError(message.code, message.detail));
  }

  #end(error: PinakesError): void {
    this.#ended ??= error;
    this.#ready.reject(error);
    this.#job?.reject(error);
  }

  async #checkMemory(): Promise<void> {
    const job = this.#job;
    try {
      const { external_memory: externalBytes } = await this.#worker.getHeapStatistics();
      if (externalBytes > this.#limits.memoryMbMax * 1024 ** 2 && this.#job === job && job !== undefined)
        await this.stop(tooLarge(this.#limits));
    } catch {
      // The thread ended before it could answer. Its own events tell why, and nothing said here may come before them.
    }
  }

  #crashed(error: unknown): PinakesError {
    // Before it has seen a file, no file is to blame.
    if (!this.#started)
      return new PinakesError("INTERNAL", `The thread that parses files could not start: ${String(error)}`, {
        cause: error,
      });
    if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
      return tooLarge(this.#limits);
    return invalid(
      "The file made the parser stop; it is probably damaged. Save it anew and upload it again, or upload it as .txt.",
      { cause: error },
    );
  }
}

/** A small file has less time, so that what is made to be slow is found out soon. */
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
