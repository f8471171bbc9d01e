/**
 * The soak: writers, compactors and readers as separate processes on real stores, killed and stopped at random for a while; then everything
 * ends, one process finishes the work, and the result must match the journals.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../simulation/random.ts";
import { Child } from "./child.ts";
import { Broken, collection, draft, scope, settings } from "./drafts.ts";
import { Journal } from "./journal.ts";
import { unavailableExit, type Task } from "./process-kit.ts";
import { openPlace, soakPolicy } from "./place.ts";
import { startStack, type Stack, type StackKind } from "./stack.ts";

export interface SoakOptions {
  readonly stack: StackKind;
  readonly seconds: number;
  readonly seed: number;
  readonly log?: (line: string) => void;
}

export type Figures = Readonly<Record<string, number>>;

interface Slot {
  readonly name: string;
  readonly program: URL;
  readonly lanes: readonly number[];
  child: Child | undefined;
  /** When it is started again. */
  startAt: number;
}

const programs = {
  writer: new URL("./writer-process.ts", import.meta.url),
  compactor: new URL("./compactor-process.ts", import.meta.url),
  reader: new URL("./reader-process.ts", import.meta.url),
  drain: new URL("./drain-process.ts", import.meta.url),
};
const hourMs = 3_600_000;
/** A soak continues until this much has happened, however slow the machine is. */
const least: Figures = { acks: 40, reads: 40, folds: 5, merges: 1, collected: 1, kills: 4, stops: 3 };
const patienceMs = 900_000;
const lineMs = 5_000;

export async function runSoak(options: SoakOptions): Promise<Figures> {
  const stack = await startStack(options.stack);
  const soak = new Soak(stack, options);
  const clean = (): void => soak.killNow();
  process.once("exit", clean);
  try {
    await soak.prepare();
    await soak.storm();
    return await soak.drain();
  } finally {
    await soak.killAll();
    process.off("exit", clean);
    await stack.stop();
  }
}

class Soak {
  readonly #stack: Stack;
  readonly #options: SoakOptions;
  readonly #random: Random;
  readonly #slots: Slot[];
  readonly #figures: Record<string, number> = { kills: 0, stops: 0, starts: 0, restartsBusy: 0 };
  #lives = 0;

  constructor(stack: Stack, options: SoakOptions) {
    this.#stack = stack;
    this.#options = options;
    this.#random = new Random(options.seed);
    const slot = (name: keyof typeof programs, number: number, lanes: readonly number[] = []): Slot => ({
      name: `${name} ${number}`,
      program: programs[name],
      lanes,
      child: undefined,
      startAt: 0,
    });
    this.#slots = [
      slot("writer", 1, [1, 2]),
      slot("writer", 2, [3, 4]),
      slot("writer", 3, [5, 6]),
      slot("compactor", 1),
      slot("compactor", 2),
      slot("reader", 1),
      slot("reader", 2),
    ];
  }

  /** The collection and its first delta: in lane 0, which has no other writes. */
  async prepare(): Promise<void> {
    const { place, journals, env } = this.#stack;
    Object.assign(process.env, env);
    const opened = await openPlace(place);
    await opened.vectors.create(scope, collection, settings);
    const journal = new Journal(journals, 0);
    journal.sending(0);
    journal.acknowledged(0, (await opened.vectors.append(scope, collection, draft(this.#options.seed, 0, 0))).seq);
    journal.close();
    await opened.close();
  }

  async storm(): Promise<void> {
    const { seconds, log = () => {} } = this.#options;
    const began = performance.now();
    let lineAt = began + lineMs;
    let actAt = began;
    for (;;) {
      const now = performance.now();
      this.#check();
      for (const slot of this.#slots) if (slot.child === undefined && now >= slot.startAt) this.#start(slot);
      if (now >= actAt) {
        this.#act();
        actAt = now + this.#random.int(200, 900);
      }
      if (now >= lineAt) {
        log(`${Math.round((now - began) / 1000)} s: ${text(this.#sum())}`);
        lineAt = now + lineMs;
      }
      const missing = this.#missing();
      if (now - began >= seconds * 1000 && missing === undefined) return;
      if (now - began >= seconds * 1000 + patienceMs)
        throw new Broken(`no progress: ${missing} after ${Math.round((now - began) / 1000)} s`);
      await sleep(20);
    }
  }

  async drain(): Promise<Figures> {
    await this.killAll();
    this.#check();
    for (;;) {
      const child = new Child(programs.drain, this.#task([], 0), this.#stack.env);
      const code = await child.exited;
      if (child.broken !== undefined) throw new Broken(`drain: ${child.broken}`);
      if (code === unavailableExit) continue;
      if (code !== 0) throw new Broken(`drain: ended with ${code}`);
      this.#add(child);
      return this.#sum();
    }
  }

  killNow(): void {
    for (const { child } of this.#slots) void child?.kill();
  }

  async killAll(): Promise<void> {
    await Promise.all(
      this.#slots.map(async (slot) => {
        const { child } = slot;
        slot.child = undefined;
        if (child === undefined) return;
        await child.kill();
        this.#add(child);
        this.#refuse(slot, child);
      }),
    );
  }

  #start(slot: Slot): void {
    const skewMs = this.#random.pick([0, 0, hourMs, -hourMs]);
    this.#figures["starts"] = (this.#figures["starts"] ?? 0) + 1;
    const child = new Child(slot.program, this.#task(slot.lanes, skewMs), this.#stack.env);
    slot.child = child;
    void child.exited.then((code) => {
      if (slot.child !== child || child.broken !== undefined) return; // The next check reports it.
      if (code !== unavailableExit) child.broken = `ended by itself with ${code}`;
      else this.#restart(slot, child);
    });
  }

  #restart(slot: Slot, child: Child): void {
    this.#figures["restartsBusy"] = (this.#figures["restartsBusy"] ?? 0) + 1;
    this.#add(child);
    slot.child = undefined;
  }

  #task(lanes: readonly number[], skewMs: number): Task {
    this.#lives += 1;
    const { place, journals } = this.#stack;
    return { place, journals, seed: this.#options.seed, life: this.#lives, skewMs, lanes };
  }

  /** One that has begun its work is killed, or stopped for longer than the lease. */
  #act(): void {
    const kills = this.#random.chance(0.5);
    // Compactors are stopped more often, because it matters there.
    const compacts = !kills && this.#random.chance(0.5);
    const slot = this.#random.pick(
      compacts ? this.#slots.filter(({ program }) => program === programs.compactor) : this.#slots,
    );
    const { child } = slot;
    const stopMs = Math.round(soakPolicy.leaseMs * (2 + this.#random.next() * 3));
    const startMs = this.#random.int(0, 300);
    // Usually one that has made progress: on a slow machine others would never get there.
    const early = this.#random.chance(0.25);
    if (child === undefined || !child.ready || (!early && Object.keys(child.counts).length === 0)) return;
    if (kills) {
      this.#figures["kills"] = (this.#figures["kills"] ?? 0) + 1;
      slot.child = undefined;
      slot.startAt = Infinity;
      void child.kill().then(() => {
        this.#add(child);
        slot.startAt = performance.now() + startMs;
      });
    } else if (!child.stopped) {
      this.#figures["stops"] = (this.#figures["stops"] ?? 0) + 1;
      child.stop();
      setTimeout(() => child.goOn(), stopMs);
    }
  }

  #check(): void {
    for (const slot of this.#slots) if (slot.child !== undefined) this.#refuse(slot, slot.child);
  }

  #refuse(slot: Slot, child: Child): void {
    if (child.broken !== undefined) throw new Broken(`${slot.name}: ${child.broken}`);
  }

  #missing(): string | undefined {
    const figures = this.#sum();
    return Object.entries(least)
      .filter(([name, count]) => (figures[name] ?? 0) < count)
      .map(([name, count]) => `${figures[name] ?? 0} ${name} of at least ${count}`)[0];
  }

  #add({ counts }: Child): void {
    for (const [name, count] of Object.entries(counts)) this.#figures[name] = (this.#figures[name] ?? 0) + count;
  }

  #sum(): Figures {
    const figures = { ...this.#figures };
    for (const { child } of this.#slots)
      for (const [name, count] of Object.entries(child?.counts ?? {})) figures[name] = (figures[name] ?? 0) + count;
    return figures;
  }
}

export function text(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
