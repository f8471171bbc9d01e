/** Parses files in a few threads of its own; the rest wait in line. Threads start when they are first needed. */
import { availableParallelism } from "node:os";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { fileTypes, type ParsedText, type Parser, type ParseInput } from "../../ports/parser.ts";
import { parserLimits } from "./limits.ts";
import { ParseWorker, type WorkerLimits } from "./worker.ts";

export interface ParserOptions {
  /** Files parsed at the same time; by default one less than the machine has cores, at most 4. */
  readonly threads?: number;
  readonly parseMsMax?: number;
  readonly memoryMbMax?: number;
}

/**
 * @example
 * const parser = openParser();
 * const { text, pages } = await parser.parse({ bytes, fileType: fileTypeOf("report.pdf") ?? "txt" });
 */
export function openParser(options: ParserOptions = {}): Parser {
  const threads = options.threads ?? Math.max(1, Math.min(4, availableParallelism() - 1));
  checkRange("threads", threads, parserLimits.threadsMax);
  const parseMsMax = options.parseMsMax ?? parserLimits.parseMsDefault;
  checkRange("parseMsMax", parseMsMax, 2 ** 31 - 1);
  const memoryMbMax = options.memoryMbMax ?? parserLimits.memoryMbDefault;
  checkRange("memoryMbMax", memoryMbMax, 65_536);
  return new ParserPool(threads, { parseMsMax, memoryMbMax });
}

function checkRange(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) throw invalid(`${name}: must be a whole number from 1 to ${max}, got ${show(value)}.`);
}

class ParserPool implements Parser {
  readonly #threads: number;
  readonly #limits: WorkerLimits;
  readonly #idle: ParseWorker[] = [];
  readonly #busy = new Set<ParseWorker>();
  readonly #queue: { readonly start: () => void; readonly refuse: (reason: unknown) => void }[] = [];
  /** Places taken, by files that are parsed or about to be; at most as many as threads. */
  #taken = 0;
  #closed = false;

  constructor(threads: number, limits: WorkerLimits) {
    this.#threads = threads;
    this.#limits = limits;
  }

  async parse(input: ParseInput, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ParsedText> {
    if (!(input.bytes instanceof Uint8Array)) throw invalid("bytes: must be a Uint8Array.");
    if (!fileTypes.includes(input.fileType)) throw invalid(`fileType: must be one of ${fileTypes.join(", ")}, got ${show(input.fileType)}.`);
    signal?.throwIfAborted();
    if (this.#closed) throw closed();
    if (this.#taken < this.#threads) this.#taken += 1;
    else await this.#wait(signal);
    try {
      return await this.#run(input, signal);
    } finally {
      // The place goes to the next in line, or is free again.
      const next = this.#queue.shift();
      if (next === undefined) this.#taken -= 1;
      else next.start();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { refuse } of this.#queue.splice(0)) refuse(closed());
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.stop(closed())));
  }

  async #run(input: ParseInput, signal: AbortSignal | undefined): Promise<ParsedText> {
    // Either may have happened while it waited.
    if (this.#closed) throw closed();
    signal?.throwIfAborted();
    let worker = this.#idle.pop();
    // Threads that ended by themselves while nobody used them.
    while (worker?.ended === true) worker = this.#idle.pop();
    worker ??= new ParseWorker(this.#limits);
    this.#busy.add(worker);
    try {
      return await worker.parse(input, signal);
    } finally {
      this.#busy.delete(worker);
      if (!worker.ended) this.#idle.push(worker);
    }
  }

  /** Until a place is handed over. */
  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#queue.length >= parserLimits.queuedParsesMax)
      throw new PinakesError("THROTTLED", `${parserLimits.queuedParsesMax} files wait to be parsed already; try again later.`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { start: resolve, refuse: reject };
    this.#queue.push(entry);
    const onAbort = () => {
      const place = this.#queue.indexOf(entry);
      if (place < 0) return;
      this.#queue.splice(place, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }
}

function closed(): PinakesError {
  return new PinakesError("UNAVAILABLE", "The parser is closed.", { retryable: false });
}
