/** Numbers from a seed (mulberry32): the same seed, the same schedule, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ (seed >>> 16), 0x9e3779b1) >>> 0;
  }

  /** 0 ≤ x < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, min ≤ n ≤ max. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }
}
