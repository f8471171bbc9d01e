/**
 * Periodic background work, one run at a time. A failing run is logged, reported to the readiness check, and retried at the next turn; it
 * never stops the process, and the timer never keeps one alive.
 */
import { reasonOf, type Log } from "../domain/log.ts";

export interface PeriodicOptions {
  readonly name: string;
  readonly everyMs: number;
  /**
   * Its signal is aborted by `stop`; the run should end soon after. A run that lasts until then calls `succeeded` whenever a part of it
   * succeeds, which clears the error that readiness reports.
   */
  readonly run: (signal: AbortSignal, succeeded: () => void) => Promise<void>;
  readonly log: Log;
}

export interface PeriodicStatus {
  readonly name: string;
  readonly runs: number;
  readonly failuresInARow: number;
  /** The error of the last run, if it failed. */
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

  /** Work is waiting: starts the next run after `ms` at the latest. */
  hurry(ms: number): void {
    if (this.#soonMs !== undefined && this.#soonMs <= ms) return;
    this.#soonMs = ms;
    if (this.#isRunning || this.#timer === undefined) return; // The current run may have missed it; `start` then schedules the next one early.
    clearTimeout(this.#timer);
    this.start();
    this.#soonMs = ms; // Until that run starts, further calls change nothing.
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

  /** Resolves when the current run has ended. */
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
