/** LRU cache bounded by bytes. An entry larger than the whole cache is not kept. */
export class ByteCache<Entry extends { readonly bytes: number }> {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // A Map keeps insertion order: the most recently used entry is last.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found;
  }

  put(key: string, entry: Entry): void {
    this.#remove(key);
    if (entry.bytes > this.#bytesMax) return;
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const found = this.#entries.get(key);
    if (found === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= found.bytes;
  }
}
