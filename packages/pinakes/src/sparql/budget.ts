/**
 * What a request may use: time, rows in memory, rows that it hands out. Whoever works through rows calls `spend` for each lot of them and
 * awaits `pause` where it says so: the event loop gets its turn, and the deadline and the caller's signal are looked at.
 */
import { PinakesError } from "../domain/errors.ts";
import { sparqlLimits, type SparqlLimits } from "./limits.ts";

/** Steps between two looks at the clock. */
const stepsPerLook = 256;

export class Budget {
  readonly limits: SparqlLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #now: () => number;
  readonly #deadline: number;
  #steps = 0;
  #sliceEnd: number;
  #held = 0;

  constructor(limits: SparqlLimits, signal: AbortSignal | undefined, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#signal = signal;
    this.#now = now;
    const start = now();
    this.#deadline = start + limits.timeoutMs;
    this.#sliceEnd = start + sparqlLimits.sliceMs;
  }

  /** Counts work; true when `pause` is due. Throws when the time is over. */
  spend(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerLook) return false;
    this.#steps = 0;
    this.check();
    return this.#now() >= this.#sliceEnd;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.check();
    this.#sliceEnd = this.#now() + sparqlLimits.sliceMs;
  }

  check(): void {
    this.#signal?.throwIfAborted();
    if (this.#now() > this.#deadline)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: the request took longer than its ${this.limits.timeoutMs} ms (timeoutMs), so it was stopped; ask for less at once or allow more time.`,
      );
  }

  /** Rows that are kept until `release`. */
  hold(rows: number): void {
    this.#held += rows;
    if (this.#held > this.limits.heldRowsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: the request needs more than ${this.limits.heldRowsMax} rows in memory at once (heldRowsMax), so it was stopped; use patterns that match less.`,
      );
  }

  release(rows: number): void {
    this.#held -= rows;
  }

  get held(): number {
    return this.#held;
  }
}

/** A part of what is held, given back as a whole. */
export class Held {
  readonly #budget: Budget;
  #rows = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(rows: number): void {
    this.#rows += rows;
    this.#budget.hold(rows);
  }

  release(): void {
    this.#budget.release(this.#rows);
    this.#rows = 0;
  }
}
