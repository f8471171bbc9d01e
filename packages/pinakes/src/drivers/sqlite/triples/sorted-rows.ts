/**
 * Rows of a batch in the order of an index, each once: a B-tree that is filled in its own order touches each page once, and leaves it
 * fuller.
 *
 * Terms are numbered by rank within the batch, so three ranks fit into one safe integer, and a plain numeric sort orders the rows.
 */
import { invariant } from "../../../domain/invariant.ts";
import { tripleLimits } from "../../../triples/triple-limits.ts";

/** At most four terms a quad, and the third power of that is below 2^53. */
const ranksMax = tripleLimits.writeQuadsMax * 4 + 1;

export class Ranks {
  /** Numbers of terms, ascending. */
  readonly #ids: Float64Array;
  /** By a term's index in the batch. */
  readonly #ranks: Uint32Array;

  /** `ids` are the numbers of the batch's terms, by their index; 0 if there is none. */
  constructor(ids: Float64Array) {
    this.#ids = ids.toSorted();
    invariant(ids.length <= ranksMax, "INTERNAL", "a batch has more terms than fit into one number");
    const rankOf = new Map<number, number>();
    for (const [rank, id] of this.#ids.entries()) rankOf.set(id, rank);
    this.#ranks = Uint32Array.from(ids, (id) => rankOf.get(id) as number);
  }

  /** `rows` holds four term indexes for each row; `columns` says which three of them are returned, and in what order. */
  triples(rows: Uint32Array, columns: readonly number[]): Float64Array {
    const [a, b, c] = columns as [number, number, number];
    const n = this.#ids.length;
    const keys = new Float64Array(rows.length / 4);
    for (let i = 0, at = 0; i < keys.length; i += 1, at += 4)
      keys[i] = this.#pair(rows, at + a, at + b) * n + this.#rank(rows, at + c);
    keys.sort();
    const sorted = new Float64Array(keys.length * 3);
    let out = 0;
    let last = -1;
    for (const key of keys) {
      if (key === last) continue;
      last = key;
      const third = key % n;
      this.#unpair((key - third) / n, sorted, out);
      sorted[out + 2] = this.#ids[third] as number;
      out += 3;
    }
    return sorted.subarray(0, out);
  }

  /** The same for four columns, which do not fit into one number. */
  quads(rows: Uint32Array, columns: readonly number[]): Float64Array {
    const [a, b, c, d] = columns as [number, number, number, number];
    const pairs = Array.from({ length: rows.length / 4 }, (_, i): readonly [number, number] => [
      this.#pair(rows, i * 4 + a, i * 4 + b),
      this.#pair(rows, i * 4 + c, i * 4 + d),
    ]);
    pairs.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
    const sorted = new Float64Array(rows.length);
    let out = 0;
    let last: readonly [number, number] = [-1, -1];
    for (const pair of pairs) {
      if (pair[0] === last[0] && pair[1] === last[1]) continue;
      last = pair;
      this.#unpair(pair[0], sorted, out);
      this.#unpair(pair[1], sorted, out + 2);
      out += 4;
    }
    return sorted.subarray(0, out);
  }

  #rank(rows: Uint32Array, at: number): number {
    return this.#ranks[rows[at] as number] as number;
  }

  #pair(rows: Uint32Array, first: number, second: number): number {
    return this.#rank(rows, first) * this.#ids.length + this.#rank(rows, second);
  }

  #unpair(pair: number, sorted: Float64Array, out: number): void {
    const second = pair % this.#ids.length;
    sorted[out] = this.#ids[(pair - second) / this.#ids.length] as number;
    sorted[out + 1] = this.#ids[second] as number;
  }
}
