/**
 * The right side of a join, asked for the rows that may agree with a row of the left.
 *
 * It begins by looking up: the right side is run with what the row knows. When it has been asked so often that reading all of it once
 * would have been cheaper, it is read into a table and asked no more. The index says how large it is, as far as it was asked to count;
 * of one that is larger as many rows are read as the lookups so far were worth, and if that was not all of it, looking up goes on until
 * they are worth twice as much. A right side that cannot be told anything is read into the table at once.
 */
import { charsOf, Held } from "../budget.ts";
import { keyOf } from "../dataset.ts";
import { sparqlLimits } from "../limits.ts";
import { emptyRow, lotRows, seedFrom, type Environment, type PatternNode, type Row } from "../node.ts";

/** Rows that could be read in the time of one lookup. */
const rowsPerLookup = 50;
/** Lookups before the index is asked how large the right side is. */
const lookupsFree = 16;
/** Lookups before a right side that is larger than the index counts is tried. */
const lookupsBeforeTrial = 1_000;
const noRows: readonly Row[] = [];

export class RightSide {
  readonly #environment: Environment;
  readonly #node: PatternNode;
  /** Bound in every row of both sides. */
  readonly #keys: readonly number[];
  readonly #canSeed: boolean;
  readonly #held: Held;
  #table: Map<string, Row[]> | undefined;
  #lookups = 0;
  #size: number | undefined;
  #nextTrial = lookupsBeforeTrial;

  constructor(environment: Environment, node: PatternNode, leftCertain: ReadonlySet<number>) {
    this.#environment = environment;
    this.#node = node;
    this.#keys = [...node.certain].filter((slot) => leftCertain.has(slot));
    this.#canSeed = this.#keys.some((slot) => node.pushable.has(slot));
    this.#held = new Held(environment.budget);
  }

  /** Rows that agree on all that both sides bind for certain; the rest is for the caller to compare. */
  async *rowsFor(left: Row): AsyncGenerator<readonly Row[]> {
    if (this.#table === undefined) await this.#perhapsRead();
    if (this.#table !== undefined) {
      const rows = this.#table.get(this.#key(left)) ?? noRows;
      for (let at = 0; at < rows.length; at += lotRows)
        yield rows.length <= lotRows ? rows : rows.slice(at, at + lotRows);
      return;
    }
    this.#lookups += 1;
    yield* this.#node.run(this.#environment, seedFrom(this.#environment, left, this.#node));
  }

  /** The answer without a wait, once there is a table; undefined also where it is more than a lot, which `rowsFor` hands out in parts. */
  tableRows(left: Row): readonly Row[] | undefined {
    const rows = this.#table === undefined ? undefined : (this.#table.get(this.#key(left)) ?? noRows);
    return rows !== undefined && rows.length > lotRows ? undefined : rows;
  }

  close(): void {
    this.#table = undefined;
    this.#held.release();
  }

  async #perhapsRead(): Promise<void> {
    if (!this.#canSeed) {
      await this.#read(Infinity);
      return;
    }
    if (this.#lookups < lookupsFree) return;
    this.#size ??= await this.#node.estimate(this.#environment);
    const worth = this.#lookups * rowsPerLookup;
    const isCounted = this.#size < sparqlLimits.estimateQuadsMax;
    if (isCounted ? worth < this.#size : this.#lookups < this.#nextTrial) return;
    const { budget } = this.#environment;
    // Never so many that the request would fail because of it.
    const room = Math.floor((budget.limits.heldRowsMax - budget.held) / 2);
    if (await this.#read(Math.min(room, Math.max(worth, this.#size)))) return;
    this.#nextTrial = this.#lookups * 2;
    this.#size = sparqlLimits.estimateQuadsMax;
  }

  /** False if there are more rows than these; then it is as before. */
  async #read(rowsMax: number): Promise<boolean> {
    const table = new Map<string, Row[]>();
    const { budget } = this.#environment;
    let count = 0;
    for await (const rows of this.#node.run(this.#environment, emptyRow(this.#environment))) {
      count += rows.length;
      if (count > rowsMax) {
        this.#held.release();
        return false;
      }
      this.#held.add(rows.length, charsOf(rows));
      for (const row of rows) {
        const key = this.#key(row);
        const bucket = table.get(key);
        if (bucket === undefined) table.set(key, [row]);
        else bucket.push(row);
      }
      if (budget.spend(rows.length)) await budget.pause();
    }
    this.#table = table;
    return true;
  }

  #key(row: Row): string {
    return keyOf(...this.#keys.map((slot) => row[slot]));
  }
}
