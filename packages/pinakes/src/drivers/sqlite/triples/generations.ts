/**
 * A cache with two generations: a hit in the old one moves the entry to the young one; when the young one is full it becomes the old one,
 * and the old one is dropped. Cheaper than an exact LRU order.
 */
export class Generations<Key, Value> {
  readonly #weightMax: number;
  readonly #weigh: (key: Key, value: Value) => number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #weight = 0;

  /** Keeps at most about `weightMax` as measured by `weigh`, in both generations together. */
  constructor(weightMax: number, weigh: (key: Key, value: Value) => number) {
    this.#weightMax = weightMax / 2;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    this.#weight += this.#weigh(key, value);
    if (this.#weight > this.#weightMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = this.#weigh(key, value);
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#weight = 0;
  }
}
