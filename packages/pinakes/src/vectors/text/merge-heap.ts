/** A binary heap of the heads of sorted lists. The caller advances a list and puts it back while it has more. */
export class MergeHeap<T> {
  readonly #entries: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  peek(): T | undefined {
    return this.#entries[0];
  }

  push(entry: T): void {
    const entries = this.#entries;
    let i = entries.length;
    while (i > 0) {
      const parent = (i - 1) >>> 1;
      if (this.#compare(entries[parent] as T, entry) <= 0) break;
      entries[i] = entries[parent] as T;
      i = parent;
    }
    entries[i] = entry;
  }

  pop(): T | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && this.#compare(entries[child + 1] as T, entries[child] as T) < 0) child += 1;
      if (this.#compare(last, entries[child] as T) <= 0) break;
      entries[i] = entries[child] as T;
      i = child;
    }
    entries[i] = last;
    return top;
  }
}
