/** A set of row numbers of one segment. Immutable once shared: change a copy. */
export class Bitmap {
  readonly rows: number;
  /** Row r is bit (r & 31) of word (r >> 5). In shared memory by default, so that search threads read it without a copy. */
  readonly words: Uint32Array;

  constructor(rows: number, words: Uint32Array = new Uint32Array(new SharedArrayBuffer(Math.ceil(rows / 32) * 4))) {
    this.rows = rows;
    this.words = words;
  }

  /** For one thread alone: cheaper to allocate. */
  static local(rows: number): Bitmap {
    return new Bitmap(rows, new Uint32Array(Math.ceil(rows / 32)));
  }

  has(row: number): boolean {
    return ((this.words[row >>> 5] as number) & (1 << (row & 31))) !== 0;
  }

  add(row: number): void {
    const word = row >>> 5;
    this.words[word] = (this.words[word] as number) | (1 << (row & 31));
  }

  copy(): Bitmap {
    const copy = new Bitmap(this.rows);
    copy.words.set(this.words);
    return copy;
  }

  count(): number {
    let count = 0;
    for (const word of this.words) count += bits(word);
    return count;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let i = 0; i < this.words.length; i += 1) {
      for (let word = this.words[i] as number; word !== 0; word &= word - 1)
        yield i * 32 + (31 - Math.clz32(word & -word));
    }
  }
}

function bits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
