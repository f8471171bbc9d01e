/** Row numbers with a value each, collected from several segments and sorted ascending. Reused from term to term. */
export class RowList {
  length = 0;
  rows = new Uint32Array(1_024);
  values = new Uint32Array(1_024);
  #otherRows = new Uint32Array(0);
  #otherValues = new Uint32Array(0);
  readonly #digitBits: number;
  readonly #starts: Uint32Array;

  /** `rowsMax`: above every row number. */
  constructor(rowsMax: number) {
    this.#digitBits = Math.max(1, Math.ceil(Math.log2(Math.max(2, rowsMax)) / 2));
    this.#starts = new Uint32Array((1 << this.#digitBits) + 1);
  }

  reserve(count: number): void {
    if (this.length + count <= this.rows.length) return;
    const size = Math.max(this.rows.length * 2, this.length + count);
    this.rows = grown(this.rows, size);
    this.values = grown(this.values, size);
  }

  /** Linear: nothing if the rows ascend already (no lists), else insertion for a few rows and two counting passes for many. */
  sort(): void {
    let ascending = true;
    for (let i = 1; i < this.length && ascending; i += 1)
      ascending = (this.rows[i - 1] as number) < (this.rows[i] as number);
    if (ascending) return;
    if (this.length <= 32) {
      this.#insertion();
      return;
    }
    if (this.#otherRows.length < this.rows.length) {
      this.#otherRows = new Uint32Array(this.rows.length);
      this.#otherValues = new Uint32Array(this.rows.length);
    }
    this.#pass(0);
    this.#pass(this.#digitBits);
  }

  #insertion(): void {
    const { rows, values } = this;
    for (let i = 1; i < this.length; i += 1) {
      const row = rows[i] as number;
      const value = values[i] as number;
      let j = i;
      for (; j > 0 && (rows[j - 1] as number) > row; j -= 1) {
        rows[j] = rows[j - 1] as number;
        values[j] = values[j - 1] as number;
      }
      rows[j] = row;
      values[j] = value;
    }
  }

  #pass(shift: number): void {
    const { rows, values, length } = this;
    const starts = this.#starts.fill(0);
    const mask = (1 << this.#digitBits) - 1;
    for (let i = 0; i < length; i += 1) {
      const digit = (((rows[i] as number) >>> shift) & mask) + 1;
      starts[digit] = (starts[digit] as number) + 1;
    }
    for (let digit = 1; digit <= mask; digit += 1)
      starts[digit] = (starts[digit] as number) + (starts[digit - 1] as number);
    for (let i = 0; i < length; i += 1) {
      const digit = ((rows[i] as number) >>> shift) & mask;
      const place = starts[digit] as number;
      starts[digit] = place + 1;
      this.#otherRows[place] = rows[i] as number;
      this.#otherValues[place] = values[i] as number;
    }
    this.rows = this.#otherRows;
    this.values = this.#otherValues;
    this.#otherRows = rows;
    this.#otherValues = values;
  }
}

function grown(values: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(size);
  result.set(values);
  return result;
}
