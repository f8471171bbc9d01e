/** Parses files in a small pool of threads; waiting files are served round-robin by owner. Threads start on first use. */
import { availableParallelism } from "node:os";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { fileTypes, type ParsedText, type Parser, type ParseInput, type ParseOptions } from "../../ports/parser.ts";
import { FairSlots } from "./fair-slots.ts";
import { parserLimits } from "./limits.ts";
import { ParseWorker, type WorkerLimits } from "./worker.ts";

export interface ParserOptions {
  /**
   * Files parsed at the same time; by default one less than the machine has cores, at least 2 and at most 4. If there are several, no owner
   * gets all of them.
   */
  readonly threads?: number | undefined;
  /** For the largest files; small ones have less time. */
  readonly parseMsMax?: number | undefined;
  readonly memoryMbMax?: number | undefined;
}

/**
 * @example
 * const parser = openParser();
 * const { text, pages } = await parser.parse({ bytes, fileType: fileTypeOf("report.pdf") ?? "txt" });
 */
export function openParser(options: ParserOptions = {}): Parser {
  const threads = options.threads ?? Math.max(2, Math.min(4, availableParallelism() - 1));
  checkRange("threads", threads, parserLimits.threadsMax);
  const parseMsMax = options.parseMsMax ?? parserLimits.parseMsDefault;
  checkRange("parseMsMax", parseMsMax, 2 ** 31 - 1);
  const memoryMbMax = options.memoryMbMax ?? parserLimits.memoryMbDefault;
  checkRange("memoryMbMax", memoryMbMax, 65_536);
  return new ParserPool(threads, { parseMsMax, memoryMbMax });
}

function checkRange(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalid(`${name}: must be a whole number from 1 to ${max}, got ${show(value)}.`);
}

class ParserPool implements Parser {
  readonly #places: FairSlots;
  readonly #limits: WorkerLimits;
  readonly #idle: ParseWorker[] = [];
  readonly #busy = new Set<ParseWorker>();
  #closed = false;

  constructor(threads: number, limits: WorkerLimits) {
    this.#places = new FairSlots(threads, parserLimits.queuedParsesMax);
    this.#limits = limits;
  }

  async parse(input: ParseInput, { signal, share = "" }: ParseOptions = {}): Promise<ParsedText> {
    if (!(input.bytes instanceof Uint8Array)) throw invalid("bytes: must be a Uint8Array.");
    if (!fileTypes.includes(input.fileType))
      throw invalid(`fileType: must be one of ${fileTypes.join(", ")}, got ${show(input.fileType)}.`);
    signal?.throwIfAborted();
    if (this.#closed) throw closed();
    await this.#places.take(share, signal);
    try {
      return await this.#run(input, signal);
    } finally {
      this.#places.give(share);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#places.refuseAll(closed());
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.stop(closed())));
  }

  async #run(input: ParseInput, signal: AbortSignal | undefined): Promise<ParsedText> {
    // Either may have happened while it waited.
    if (this.#closed) throw closed();
    signal?.throwIfAborted();
    let worker = this.#idle.pop();
    // Threads that exited while idle.
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
}

function closed(): PinakesError {
  return new PinakesError("UNAVAILABLE", "The parser is closed.", { retryable: false });
}
