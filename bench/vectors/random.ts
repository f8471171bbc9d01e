/** Random numbers that are the same on every machine, with random access: row 7 does not depend on row 6. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare = Number.NaN;

  /** Different triples of 32-bit integers never start in the same state: no two rows are alike. */
  constructor(seed: number, stream: number, index = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = index | 0;
    for (let i = 0; i < 15; i += 1) this.uniform();
  }

  /** In [0, 1), with 32 random bits (sfc32). */
  uniform(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  }

  integer(below: number): number {
    return Math.floor(this.uniform() * below);
  }

  /** Mean 0, variance 1. */
  normal(): number {
    if (!Number.isNaN(this.#spare)) {
      const value = this.#spare;
      this.#spare = Number.NaN;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  /** Normal values with an expected length of `length`. */
  normals(count: number, length: number): Float32Array<ArrayBuffer> {
    const scale = length / Math.sqrt(count);
    return Float32Array.from({ length: count }, () => this.normal() * scale);
  }
}

/** Draws 0 to count - 1, `i` with a weight of `(i + 1) ** -exponent`. */
export function zipf(count: number, exponent: number): (random: Random) => number {
  const upTo = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i += 1) upTo[i] = sum += (i + 1) ** -exponent;
  return (random) => {
    const wanted = random.uniform() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
