/**
 * A cache for small reads that repeat, such as the state of a collection before every search. It is valid while the file is unchanged:
 * SQLite's data_version changes with every commit of any other connection, in this process or another one, and reading it costs a third of
 * a read. The connection that reads it must never write.
 *
 * Invariant: what is cached for a version was read when the file had that version or a later one. So the version is read before the items,
 * never after; if the file changed in between, the next read finds another version and reads again.
 */
import type { StoredItem, StoredKey } from "../../items/item-engine.ts";

type Found = readonly (StoredItem | undefined)[];

interface Recent {
  readonly version: number;
  readonly keys: readonly StoredKey[];
  readonly found: Found;
}

export const recentReadsMax = 512;
export const recentReadCharsMax = 4_096;

/** Of one container. Each partition has room for its last read. */
export class RecentReads {
  readonly #recent = new Map<string, Recent>();

  /** `keys` are of one partition, `pk`. */
  find(version: number, pk: string, keys: readonly StoredKey[]): Found | undefined {
    const recent = this.#recent.get(pk);
    if (recent === undefined || recent.version !== version || recent.keys.length !== keys.length) return undefined;
    for (let i = 0; i < keys.length; i += 1) if (keys[i]?.idKey !== recent.keys[i]?.idKey) return undefined;
    return recent.found;
  }

  keep(version: number, pk: string, keys: readonly StoredKey[], found: Found): void {
    this.#recent.delete(pk);
    if (found.reduce((sum, item) => sum + (item?.json.length ?? 0), 0) > recentReadCharsMax) return;
    this.#recent.set(pk, { version, keys, found });
    // Evicts the oldest entry, which is read again on demand.
    if (this.#recent.size > recentReadsMax) this.#recent.delete(this.#recent.keys().next().value as string);
  }
}
