/**
 * The right side of a join: returns the rows that may be compatible with a row of the left side.
 *
 * It starts with lookups: the right side is run with the bindings of the row. Once the lookups have cost more than reading the whole right
 * side, it is read into a table, and lookups stop. The index estimates its size up to a bound; if it is larger, as many rows are read as
 * the lookups so far were worth, and if that was not all, lookups continue until they are worth twice as much. A right side that accepts no
 * bindings is read into the table at once.
 */
import { charsOf, Held } from "../budget.ts";
import { keyOf } from "../dataset.ts";
import { sparqlLimits } from "../limits.ts";
import { emptyRow, lotRows, seedFrom, type Environment, type PatternNode, type Row } from "../node.ts";

/** Rows that can be read in the time of one lookup. */
const rowsPerLookup = 50;
/** Lookups before the size of the right side is estimated. */
const lookupsFree = 16;
/** Lookups before reading a right side that is larger than the estimate's bound. */
const lookupsBeforeTrial = 1_000;
const noRows: readonly Row[] = [];

export class RightSide {
  readonly #environment: Environment;
  readonly #node: PatternNode;
  /** Variables bound in every row of both sides. */
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

  /** Rows that agree on all variables that both sides certainly bind; the caller compares the others. */
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

  /**
   * The synchronous answer, once there is a table; undefined also if there are more rows than a batch, which `rowsFor` returns in parts.
   */
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
    // Never so many that the request would exceed its own limit because of it.
    const room = Math.floor((budget.limits.heldRowsMax - budget.held) / 2);
    if (await this.#read(Math.min(room, Math.max(worth, this.#size)))) return;
    this.#nextTrial = this.#lookups * 2;
    this.#size = sparqlLimits.estimateQuadsMax;
  }

  /** False if there are more rows; lookups then continue. */
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
