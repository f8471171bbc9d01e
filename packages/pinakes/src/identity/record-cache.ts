/**
 * Caches recently read records, so that a busy key is not read from the store at every call.
 *
 * Invariants: an entry is used for less than `cacheMsMax`, counted from before it was read, so a record deleted by another process is used
 * no longer than that; an entry that this process removes is gone at once, even if a read of it is in progress: that read started in an
 * earlier epoch and is not cached.
 */
import type { Clock } from "../ports/clock.ts";
import { identityLimits } from "./limits.ts";

interface Entry<T> {
  readonly value: T;
  readonly readAt: number;
}

export class RecordCache<T> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry<T>>();
  #epoch = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  async get(id: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const now = this.#clock.now();
    const entry = this.#entries.get(id);
    // An entry from the future means that the clock was set back, so its age is unknown.
    if (entry !== undefined && now >= entry.readAt && now - entry.readAt < identityLimits.cacheMsMax)
      return entry.value;
    this.#entries.delete(id);
    const epoch = this.#epoch;
    const value = await read();
    if (value !== undefined && epoch === this.#epoch) this.#keep(id, { value, readAt: now });
    return value;
  }

  /** Called after the record was deleted. */
  forget(id: string): void {
    this.#epoch += 1;
    this.#entries.delete(id);
  }

  /** Replaces a cached record with a newer state; this does not extend its lifetime. */
  amend(id: string, value: T): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#entries.set(id, { value, readAt: entry.readAt });
  }

  #keep(id: string, entry: Entry<T>): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    if (this.#entries.size <= identityLimits.cacheEntriesMax) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }
}
