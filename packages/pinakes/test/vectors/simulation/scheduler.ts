/**
 * Which process runs next. Every call to a store waits here; the scheduler releases one at a time, chosen by a seed, and injects faults
 * before, after or instead of it. Between two steps nothing runs: all consequences of a step have happened before the next one.
 */
import { setImmediate as turn } from "node:timers/promises";
import { PinakesError } from "../../../src/domain/errors.ts";
import type { Random } from "./random.ts";

/** Probabilities for each step of a process; `faultsMax` for all of a schedule. */
export interface Faults {
  readonly crash: number;
  readonly stall: number;
  readonly errorBefore: number;
  /** It took effect, the answer was lost. */
  readonly errorAfter: number;
  /** The caller gets an error, and the call arrives later. */
  readonly late: number;
  readonly faultsMax: number;
  /** A jump of all clocks by more than a lease. */
  readonly jump: number;
}

export interface Process {
  readonly name: string;
  /** The error of its wall clock. */
  readonly skewMs: number;
  alive: boolean;
  finished: boolean;
  /** A fault was injected, so that errors of the store are expected. */
  disturbed: boolean;
  stalledUntil: number;
  readonly timers: Set<Timer>;
}

interface Timer {
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  due: number;
  busy: boolean;
}

interface Step {
  readonly process: Process;
  readonly label: string;
  readonly notBefore: number;
  /** `share` < 1: only a part of it took effect, where it has parts. */
  readonly run: (share: number) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Waiting is no call and cannot fail. */
  readonly isPause: boolean;
}

export const leaseMs = 900;
const stepsMax = 6_000;

export class Scheduler {
  now = 1_800_000_000_000;
  steps = 0;
  crashes = 0;
  stalls = 0;
  errors = 0;
  /** A digest of every step so far: two runs with the same are the same. */
  fingerprint = 0;
  trace: string[] | undefined;
  /** Set on a violation: the schedule ends here. */
  violation: string | undefined;
  /** Calls run at once: before the schedule and after it. */
  direct = true;
  onCrash: (process: Process) => void = () => {};
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #processes: Process[] = [];
  readonly #network: Process = newProcess("network", 0);
  #waiting: Step[] = [];

  constructor(random: Random, faults: Faults) {
    this.#random = random;
    this.#faults = faults;
  }

  start(name: string, skewMs: number, main: (process: Process) => Promise<void>): void {
    const process = newProcess(name, skewMs);
    this.#processes.push(process);
    main(process).then(
      () => {
        process.finished = true;
        process.timers.clear();
      },
      (error: unknown) =>
        this.fail(`${name} ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    );
  }

  fail(what: string): void {
    this.violation ??= what;
  }

  async call<T>(process: Process, label: string, run: (share: number) => Promise<T>): Promise<T> {
    if (this.direct) return run(1);
    return this.#wait(process, label, this.now, run, false);
  }

  /** A step of the test itself: it cannot fail. */
  async surely(process: Process, label: string, run: () => Promise<void>): Promise<void> {
    await this.#wait(process, label, this.now, run, true);
  }

  async pause(process: Process, ms: number): Promise<void> {
    if (this.direct) this.now += ms;
    else await this.#wait(process, "pause", this.now + ms, async () => {}, true);
  }

  every(process: Process, everyMs: number, run: () => Promise<void>): () => void {
    const timer: Timer = { everyMs, run, due: this.now + everyMs, busy: false };
    process.timers.add(timer);
    return () => process.timers.delete(timer);
  }

  async run(): Promise<void> {
    this.direct = false;
    await drained();
    while (this.violation === undefined) {
      if (this.#processes.every(({ alive, finished }) => !alive || finished) && this.#waiting.length === 0) break;
      if (this.steps >= stepsMax) this.fail(`no end after ${stepsMax} steps`);
      await this.#next();
    }
    this.direct = true;
  }

  #wait<T>(
    process: Process,
    label: string,
    notBefore: number,
    run: (share: number) => Promise<T>,
    isPause: boolean,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (process.alive)
      this.#waiting.push({
        process,
        label,
        notBefore,
        run,
        resolve: resolve as (value: unknown) => void,
        reject,
        isPause,
      });
    return promise;
  }

  async #next(): Promise<void> {
    const ready: (Step | { process: Process; timer: Timer })[] = this.#waiting.filter(
      (step) => step.notBefore <= this.now && step.process.stalledUntil <= this.now,
    );
    for (const process of this.#processes) {
      if (process.stalledUntil > this.now) continue;
      for (const timer of process.timers) if (!timer.busy && timer.due <= this.now) ready.push({ process, timer });
    }
    if (ready.length === 0) return this.#skipTime();
    this.steps += 1;
    this.now += this.#random.int(0, 10);
    if (this.#random.chance(this.#faults.jump)) this.now += this.#random.int(leaseMs, 2 * leaseMs);
    const chosen = this.#random.pick(ready);
    if ("timer" in chosen) this.#beat(chosen.timer);
    else await this.#take(chosen);
    // Occasionally a turn of the event loop, for what the code defers to one.
    if (this.#random.chance(1 / 16)) await turn();
    else await drained();
  }

  #skipTime(): void {
    const times = [
      ...this.#waiting.map((step) => Math.max(step.notBefore, step.process.stalledUntil)),
      ...this.#processes.flatMap((process) =>
        [...process.timers].filter(({ busy }) => !busy).map(({ due }) => Math.max(due, process.stalledUntil)),
      ),
    ];
    if (times.length === 0) return this.fail("deadlock: all processes wait");
    this.now = Math.max(this.now, Math.ceil(Math.min(...times)));
  }

  #beat(timer: Timer): void {
    timer.busy = true;
    timer.due = this.now + timer.everyMs;
    timer
      .run()
      .finally(() => (timer.busy = false))
      .catch((error: unknown) => this.fail(`a timer failed: ${String(error)}`));
  }

  async #take(step: Step): Promise<void> {
    const fault = step.isPause || step.process === this.#network ? undefined : this.#fault();
    this.#note(step, fault);
    if (fault === "stall") {
      this.stalls += 1;
      step.process.disturbed = true;
      step.process.stalledUntil = this.now + this.#random.int(leaseMs, 4 * leaseMs);
      return; // The call itself waits, too: it arrives when the process continues.
    }
    this.#waiting.splice(this.#waiting.indexOf(step), 1);
    if (fault === undefined) return this.#execute(step);
    step.process.disturbed = true;
    if (fault === "crash") return this.#crash(step);
    this.errors += 1;
    if (fault === "late") {
      const notBefore = this.now + this.#random.int(0, 3 * leaseMs);
      this.#waiting.push({ ...step, process: this.#network, notBefore, resolve: () => {}, reject: () => {} });
    } else if (fault === "errorAfter") {
      await this.#quietly(step, this.#random.chance(0.5) ? 1 : this.#random.next());
    }
    step.reject(new PinakesError("UNAVAILABLE", `simulated: ${fault}`, { retryable: false }));
  }

  async #execute(step: Step): Promise<void> {
    try {
      step.resolve(await step.run(1));
    } catch (error) {
      step.reject(error);
    }
  }

  async #quietly(step: Step, share: number): Promise<void> {
    await step.run(share).catch(() => {});
  }

  async #crash(step: Step): Promise<void> {
    const { process } = step;
    this.crashes += 1;
    // Its last call may still have arrived, or a part of it.
    if (this.#random.chance(0.5)) await this.#quietly(step, this.#random.chance(0.5) ? 1 : this.#random.next());
    process.alive = false;
    process.timers.clear();
    this.#waiting = this.#waiting.filter((other) => other.process !== process);
    this.onCrash(process);
  }

  #fault(): "crash" | "stall" | "errorBefore" | "errorAfter" | "late" | undefined {
    const { crash, stall, errorBefore, errorAfter, late, faultsMax } = this.#faults;
    if (this.crashes + this.stalls + this.errors >= faultsMax) return undefined;
    let drawn = this.#random.next();
    for (const [name, chance] of Object.entries({ crash, stall, errorBefore, errorAfter, late }) as [
      "crash",
      number,
    ][]) {
      drawn -= chance;
      if (drawn < 0) return name;
    }
    return undefined;
  }

  #note({ process, label }: Step, fault: string | undefined): void {
    const text = `${process.name} ${label}${fault === undefined ? "" : ` !${fault}`}`;
    for (let i = 0; i < text.length; i += 1)
      this.fingerprint = (Math.imul(this.fingerprint, 31) + text.charCodeAt(i)) | 0;
    this.trace?.push(
      `${String(this.steps).padStart(4)} +${String(this.now - 1_800_000_000_000).padStart(6)} ms  ${text}`,
    );
  }
}

export function newProcess(name: string, skewMs: number): Process {
  return { name, skewMs, alive: true, finished: false, disturbed: false, stalledUntil: 0, timers: new Set() };
}

/** Ticks run when no microtask is left: all processes wait for the scheduler then, because nothing else is asynchronous here. */
function drained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
