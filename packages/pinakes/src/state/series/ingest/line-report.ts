/** The outcome of each line of an ingestion. Every line gets exactly one. */
import type { IngestOptions, IngestResult, LineResult } from "@pinakes/client";
import type { PinakesError } from "../../../domain/errors.ts";
import { invariant } from "../../../domain/invariant.ts";

const notStored = {
  code: "CONFLICT",
  detail: "Not stored, because another line was rejected and all_or_nothing is set.",
} as const;
/** HTTP's "failed dependency". */
const notTried = 424;

export class LineReport {
  readonly #results = new Map<number, LineResult>();
  #accepted = 0;
  #duplicates = 0;
  #failed = 0;
  /** The first error that trying again may cure. */
  trouble: PinakesError | undefined;

  get failed(): number {
    return this.#failed;
  }

  get accepted(): number {
    return this.#accepted;
  }

  has(line: number): boolean {
    return this.#results.has(line);
  }

  stored(line: number, id: string): void {
    this.#accepted += 1;
    this.#end({ line, status: 201, id });
  }

  duplicate(line: number, id: string): void {
    this.#duplicates += 1;
    this.#end({ line, status: 200, id, duplicate: true });
  }

  refused(line: number, error: PinakesError, id?: string): void {
    this.#failed += 1;
    if (error.retryable) this.trouble ??= error;
    this.#end({
      line,
      status: error.status,
      ...(id === undefined ? {} : { id }),
      error: { code: error.code, detail: error.detail },
    });
  }

  /** The rest, when nothing is to be stored. */
  leftOut(line: number): void {
    this.#end({ line, status: notTried, error: notStored });
  }

  result({ report = "failed" }: IngestOptions): IngestResult {
    const lines = [...this.#results.values()].filter(
      ({ status }) => report === "all" || (status >= 400 && status !== notTried),
    );
    return {
      accepted: this.#accepted,
      duplicates: this.#duplicates,
      failed: this.#failed,
      lines: lines.toSorted((a, b) => a.line - b.line),
    };
  }

  #end(result: LineResult): void {
    invariant(!this.#results.has(result.line), "INTERNAL", `Line ${result.line} ended twice.`);
    this.#results.set(result.line, result);
  }
}
