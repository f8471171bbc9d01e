/**
 * Work that is done again and again in the background, one run at a time. A failing run is logged, remembered for the readiness
 * check, and tried again at the next turn; it never stops the process, and the timer never keeps one alive.
 */
import { reasonOf, type Log } from "../domain/log.ts";

export interface PeriodicOptions {
  readonly name: string;
  readonly everyMs: number;
  /**
   * Gets a signal that is aborted by `stop`; it should end soon after. Work that goes on until then calls `succeeded` whenever a part of it
   * went well: what failed before is over, and readiness must not tell of it any more.
   */
  readonly run: (signal: AbortSignal, succeeded: () => void) => Promise<void>;
  readonly log: Log;
}

export interface PeriodicStatus {
  readonly name: string;
  readonly runs: number;
  readonly failuresInARow: number;
  /** What the last run said, if it failed. */
  readonly lastError?: string;
}

export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #soonMs: number | undefined;
  #runs = 0;
  #failuresInARow = 0;
  #lastError: string | undefined;

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopping.signal.aborted) return;
    const waitMs = Math.min(this.#options.everyMs, this.#soonMs ?? Infinity);
    this.#soonMs = undefined;
    this.#timer = setTimeout(() => {
      this.#isRunning = true;
      this.#soonMs = undefined;
      this.#running = this.runOnce().then(() => {
        this.#isRunning = false;
        this.start();
      });
    }, waitMs).unref();
  }

  /** There is something to do: the next run comes after `ms` at the latest. */
  hurry(ms: number): void {
    if (this.#soonMs !== undefined && this.#soonMs <= ms) return;
    this.#soonMs = ms;
    if (this.#isRunning || this.#timer === undefined) return; // The run under way may have missed it: `start` sees to it afterwards.
    clearTimeout(this.#timer);
    this.start();
    this.#soonMs = ms; // Until that run begins, being in a hurry again changes nothing.
  }

  async runOnce(): Promise<void> {
    const { name, run, log } = this.#options;
    try {
      await run(this.#stopping.signal, () => this.#succeeded());
      this.#succeeded();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failuresInARow += 1;
      this.#lastError = error instanceof Error ? error.message : String(error);
      log(`${name} failed (${this.#failuresInARow} in a row): ${reasonOf(error)}`, "error", {
        work: name,
        failures: this.#failuresInARow,
      });
    } finally {
      this.#runs += 1;
    }
  }

  #succeeded(): void {
    this.#failuresInARow = 0;
    this.#lastError = undefined;
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  status(): PeriodicStatus {
    const { name } = this.#options;
    return {
      name,
      runs: this.#runs,
      failuresInARow: this.#failuresInARow,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }
}
