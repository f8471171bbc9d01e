/** The part of a source derived from its rows: counting, hashing and comparing both sides. */
import { invalid } from "../domain/errors.ts";
import { ContentHash, type Measured } from "./content-hash.ts";
import { differencesOf, type Differences, type Entry } from "./differences.ts";
import { reporting } from "./progress.ts";
import type { Held, Inventory, Problem, Progress, Reading, UnitName } from "./source.ts";

export abstract class EntrySource {
  /** The distinct rows of a unit in their target form. Invalid rows are reported and skipped. */
  abstract entries(unit: UnitName, reading: Reading): AsyncIterable<Entry>;
  /** The rows of the target. */
  abstract held(unit: UnitName, held: Held): AsyncIterable<Entry>;
  /** Stored rows, including duplicates, if known. */
  rows?(unit: UnitName): Promise<number>;

  async measure(unit: UnitName, reading: Reading): Promise<Inventory> {
    const { count, hash } = await measured(this.entries(unit, reading), reading.progress);
    return { rows: (await this.rows?.(unit)) ?? count, count, hash };
  }

  async measureHeld(unit: UnitName, held: Held): Promise<Measured> {
    return measured(this.held(unit, held), held.progress);
  }

  async differences(unit: UnitName, held: Held): Promise<Differences> {
    const { signal, progress } = held;
    return differencesOf(
      reporting(this.entries(unit, strictly(signal, progress)), progress),
      reporting(this.held(unit, held), progress),
    );
  }
}

/** For reading validated rows again: a problem now means that the source has changed. */
export function strictly(signal: AbortSignal, progress: Progress = () => undefined): Reading {
  const problem = ({ where, reason }: Problem) => {
    throw invalid(`${where}: ${reason} The source has changed since it was planned; plan again.`);
  };
  return { signal, problem, progress };
}

async function measured(entries: AsyncIterable<Entry>, progress: Progress | undefined): Promise<Measured> {
  const sum = new ContentHash();
  for await (const { text } of reporting(entries, progress)) sum.add(text);
  return sum.measured;
}
