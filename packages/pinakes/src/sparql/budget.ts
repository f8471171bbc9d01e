/**
 * The limits of a request: time, rows in memory, rows returned. Code that processes rows calls `spend` for each batch and awaits `pause`
 * when it returns true, which yields to the event loop and checks the deadline and the caller's signal.
 */
import { PinakesError } from "../domain/errors.ts";
import type { QuerySlot } from "../domain/query-slots.ts";
import { sparqlLimits, type SparqlLimits } from "./limits.ts";

/** Approximate memory of a retained row or key, without its characters. */
const rowBytes = 96;

/** Steps between two checks of the clock. */
const stepsPerLook = 256;

export class Budget {
  readonly limits: SparqlLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #now: () => number;
  #deadline: number;
  #steps = 0;
  #sliceEnd: number;
  #held = 0;
  #heldBytes = 0;
  #place: Pick<QuerySlot, "hold" | "release"> | undefined;

  constructor(limits: SparqlLimits, signal: AbortSignal | undefined, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#signal = signal;
    this.#now = now;
    const start = now();
    this.#deadline = start + limits.timeoutMs;
    this.#sliceEnd = start + sparqlLimits.sliceMs;
  }

  /** Restarts the clock; from here on, memory is also counted against the slot. */
  begin(place: Pick<QuerySlot, "hold" | "release">): void {
    this.#place = place;
    this.#deadline = this.#now() + this.limits.timeoutMs;
    this.#sliceEnd = this.#now() + sparqlLimits.sliceMs;
  }

  /** Counts work; true when `pause` is due. Throws once the deadline has passed. */
  spend(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerLook) return false;
    this.#steps = 0;
    this.check();
    return this.#now() >= this.#sliceEnd;
  }

  async pause(): Promise<void> {
    await turn();
    this.check();
    this.#sliceEnd = this.#now() + sparqlLimits.sliceMs;
  }

  check(): void {
    this.#signal?.throwIfAborted();
    if (this.#now() > this.#deadline) this.stop();
  }

  /** Stops the request because its time is up. */
  stop(): never {
    this.#signal?.throwIfAborted();
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `SPARQL: the request took longer than its ${this.limits.timeoutMs} ms (timeoutMs), so it was stopped; request less at once or raise the limit.`,
    );
  }

  /** Counts rows that are kept until `release`, with their total number of characters. */
  hold(rows: number, chars: number): void {
    const bytes = rows * rowBytes + chars;
    if (this.#held + rows > this.limits.heldRowsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: the request needs more than ${this.limits.heldRowsMax} rows in memory at once (heldRowsMax), so it was stopped; use patterns that match less.`,
      );
    if (this.#heldBytes + bytes > this.limits.heldBytesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: the request needs more than ${this.limits.heldBytesMax} bytes of memory at once (heldBytesMax), so it was stopped; use patterns that match less.`,
      );
    this.#place?.hold(bytes);
    this.#held += rows;
    this.#heldBytes += bytes;
  }

  release(rows: number, chars: number): void {
    const bytes = rows * rowBytes + chars;
    this.#place?.release(bytes);
    this.#held -= rows;
    this.#heldBytes -= bytes;
  }

  get held(): number {
    return this.#held;
  }
}

/** A part of the held memory that is released as a whole. */
export class Held {
  readonly #budget: Budget;
  #rows = 0;
  #chars = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(rows: number, chars: number): void {
    this.#budget.hold(rows, chars);
    this.#rows += rows;
    this.#chars += chars;
  }

  release(): void {
    this.#budget.release(this.#rows, this.#chars);
    this.#rows = 0;
    this.#chars = 0;
  }
}

/** Number of characters in the rows. */
export function charsOf(rows: readonly (readonly (string | undefined)[])[]): number {
  let chars = 0;
  for (const row of rows) for (const text of row) chars += text?.length ?? 0;
  return chars;
}

/**
 * Requests that wait for their next time slice. Each turn of the event loop runs one of them, so a slice delays other work by one slice
 * only, however many requests wait.
 */
const waiting: (() => void)[] = [];

async function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(nextTurn);
  return promise;
}

function nextTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(nextTurn);
}
