/**
 * Aggregates rows by bucket and group. Sums compensate rounding errors (Neumaier), so they do not depend on the order of the rows beyond
 * the last digits: the error is within 1e-15 of the sum of the magnitudes.
 */
import { PinakesError } from "../../../domain/errors.ts";
import { seriesLimits } from "../series.ts";
import { sortValues } from "./sort-values.ts";

export interface CellKey {
  readonly bucket: number;
  readonly group: readonly (string | null)[];
}

/** The aggregate of one group's rows in an hour; merged into larger cells. */
export interface CellPart {
  readonly group: readonly (string | null)[];
  readonly count: number;
  readonly sum: number;
  /** Compensation for the rounding of `sum`. */
  readonly lost: number;
  readonly min: number;
  readonly max: number;
  /** Ascending; empty if values are not kept. */
  readonly sorted: Float64Array;
}

/** Places by bucket, then by one value after the other. A text of all of them would cost more than the rest of an aggregate. */
type Branch = Map<string | number | null, Branch | number>;

export class Cells {
  readonly #keepsValues: boolean;
  readonly #valuesMax: number;
  readonly #places: Branch = new Map();
  readonly keys: CellKey[] = [];
  #count = new Float64Array(16);
  #sum = new Float64Array(16);
  #lost = new Float64Array(16);
  #min = new Float64Array(16);
  #max = new Float64Array(16);
  readonly #chunks: { readonly places: Uint32Array; readonly values: Float64Array }[] = [];
  /** Sorted values that came with parts, by cell; they are shared and must not be changed. */
  readonly #runs = new Map<number, Float64Array[]>();
  rows = 0;

  /** With values, for percentiles. */
  constructor(keepsValues: boolean, valuesMax: number = seriesLimits.percentileRowsMax) {
    this.#keepsValues = keepsValues;
    this.#valuesMax = valuesMax;
  }

  place(bucket: number, group: readonly (string | null)[]): number {
    const path = [bucket, ...group];
    const last = path.pop() as string | number | null;
    let branch = this.#places;
    for (const step of path) {
      let next = branch.get(step) as Branch | undefined;
      if (next === undefined) branch.set(step, (next = new Map()));
      branch = next;
    }
    const known = branch.get(last) as number | undefined;
    if (known !== undefined) return known;
    const place = this.keys.length;
    if (place >= seriesLimits.aggregateCellsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The answer would have more than ${seriesLimits.aggregateCellsMax} rows. Group by less, take larger buckets or a shorter range.`,
      );
    branch.set(last, place);
    this.keys.push({ bucket, group });
    if (place === this.#count.length) this.#grow();
    this.#min[place] = Infinity;
    this.#max[place] = -Infinity;
    return place;
  }

  /** The first `length` of both; they may be written over afterwards. */
  add(places: Uint32Array, values: Float64Array, length: number): void {
    const [count, sum, lost, min, max] = [this.#count, this.#sum, this.#lost, this.#min, this.#max];
    for (let i = 0; i < length; i += 1) {
      const place = places[i] as number;
      const value = values[i] as number;
      const before = sum[place] as number;
      const next = before + value;
      count[place] = (count[place] as number) + 1;
      lost[place] =
        (lost[place] as number) + (Math.abs(before) >= Math.abs(value) ? before - next + value : value - next + before);
      sum[place] = next;
      if (value < (min[place] as number)) min[place] = value;
      if (value > (max[place] as number)) max[place] = value;
    }
    this.#counted(length);
    if (this.#keepsValues && length > 0)
      this.#chunks.push({ places: places.slice(0, length), values: values.slice(0, length) });
  }

  /** All rows of a part at once, as if they had been added one by one. */
  addPart(bucket: number, part: CellPart): void {
    const place = this.place(bucket, part.group);
    const before = this.#sum[place] as number;
    const next = before + part.sum;
    const rounding = Math.abs(before) >= Math.abs(part.sum) ? before - next + part.sum : part.sum - next + before;
    this.#count[place] = (this.#count[place] as number) + part.count;
    this.#lost[place] = (this.#lost[place] as number) + rounding + part.lost;
    this.#sum[place] = next;
    this.#min[place] = Math.min(this.#min[place] as number, part.min);
    this.#max[place] = Math.max(this.#max[place] as number, part.max);
    this.#counted(part.count);
    if (!this.#keepsValues) return;
    const runs = this.#runs.get(place);
    if (runs === undefined) this.#runs.set(place, [part.sorted]);
    else runs.push(part.sorted);
  }

  #counted(rows: number): void {
    this.rows += rows;
    if (!this.#keepsValues || this.rows <= this.#valuesMax) return;
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `Percentiles are computed over at most ${this.#valuesMax} rows. Take a shorter range or a narrower filter, or leave them out.`,
    );
  }

  count(place: number): number {
    return this.#count[place] as number;
  }

  sum(place: number): number {
    const [sum, lost] = [this.#sum[place] as number, this.#lost[place] as number];
    // Beyond the greatest number there is nothing to correct.
    return Number.isFinite(sum) ? sum + lost : sum;
  }

  min(place: number): number {
    return this.#min[place] as number;
  }

  max(place: number): number {
    return this.#max[place] as number;
  }

  /** Sorted values of a cell that came with parts, beside those of `values`. */
  runs(place: number): readonly Float64Array[] {
    return this.#runs.get(place) ?? [];
  }

  /** Every cell as a part; the buckets are forgotten. Once, like `values`. */
  async parts(pause: () => Promise<void>): Promise<readonly CellPart[]> {
    const kept = this.#keepsValues ? await this.values(pause) : undefined;
    return this.keys.map(({ group }, place): CellPart => {
      const [count, sum, lost] = [
        this.#count[place] as number,
        this.#sum[place] as number,
        this.#lost[place] as number,
      ];
      const sorted =
        kept === undefined ? noValues : sortValues(kept.all.subarray(kept.starts[place], kept.starts[place + 1]));
      return { group, count, sum, lost, min: this.min(place), max: this.max(place), sorted };
    });
  }

  /** The values of each cell that came row by row, side by side. Once: what was kept is let go on the way. */
  async values(pause: () => Promise<void>): Promise<{ readonly all: Float64Array; readonly starts: Uint32Array }> {
    const starts = new Uint32Array(this.keys.length + 1);
    for (let place = 0; place < this.keys.length; place += 1) {
      const inRuns = this.runs(place).reduce((rows, run) => rows + run.length, 0);
      starts[place + 1] = (starts[place] as number) + this.count(place) - inRuns;
    }
    const next = starts.slice();
    const all = new Float64Array(starts[this.keys.length] as number);
    let sincePause = 0;
    for (let chunk = this.#chunks.pop(); chunk !== undefined; chunk = this.#chunks.pop()) {
      const { places, values } = chunk;
      for (let i = 0; i < places.length; i += 1) {
        const place = places[i] as number;
        const at = next[place] as number;
        all[at] = values[i] as number;
        next[place] = at + 1;
      }
      sincePause += places.length;
      if (sincePause < rowsPerPause) continue;
      sincePause = 0;
      await pause();
    }
    return { all, starts };
  }

  #grow(): void {
    const larger = (column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(column.length * 2);
      grown.set(column);
      return grown;
    };
    [this.#count, this.#sum, this.#lost, this.#min, this.#max] = [
      larger(this.#count),
      larger(this.#sum),
      larger(this.#lost),
      larger(this.#min),
      larger(this.#max),
    ];
  }
}

const rowsPerPause = 262_144;
const noValues = new Float64Array(0);
