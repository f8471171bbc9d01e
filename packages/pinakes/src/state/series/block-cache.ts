/** Columns that were used lately, up to a number of bytes. A key holds the stamp, so what is found here is right. */
import type { Columns } from "./columns.ts";

export class BlockCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Columns>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Columns | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // A Map keeps the order of insertion: what was used last stands last.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found;
  }

  put(key: string, columns: Columns): void {
    this.#remove(key);
    if (columns.bytes > this.#bytesMax) return;
    this.#entries.set(key, columns);
    this.#bytes += columns.bytes;
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
