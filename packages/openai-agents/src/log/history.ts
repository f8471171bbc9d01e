/**
 * Computes the history from the end of the log: a change is read before the entries it changes, so reading stops as soon as enough is
 * known.
 */
import type { JsonObject } from "@pinakes/client";
import { isVoid, itemId, type ChangeEntry, type ItemEntry, type StoredEntry } from "./entries.ts";

export interface HistoryItem {
  readonly id: string;
  readonly item: JsonObject;
}

/** A position in the history; the item is read later if a change created the position. */
interface Slot {
  readonly id: string;
  item: JsonObject | undefined;
}

export class History {
  readonly #wanted: number;
  /** Newest first. */
  readonly #slots: Slot[] = [];
  readonly #places = new Map<string, Slot>();
  readonly #removed = new Set<string>();
  readonly #garbage: string[] = [];
  #empty = 0;

  /** `wanted`: how many of the newest items are requested. */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** Everything requested is known. */
  get isEnough(): boolean {
    return this.#empty === 0 && this.#slots.length >= this.#wanted;
  }

  /** A place whose item was not in the log: it was removed while the log was read. */
  get isTorn(): boolean {
    return this.#empty > 0;
  }

  /** Items that are of the log but not of the history any more. */
  get garbage(): readonly string[] {
    return this.#garbage;
  }

  /** The next entry, going from the newest to the oldest. */
  add(entry: StoredEntry): void {
    if (entry.kind === "change") this.#addChange(entry);
    else this.#addItem(entry);
  }

  /** In the order they were said. */
  items(): HistoryItem[] {
    const newest = this.#slots.slice(0, this.#wanted);
    return newest.toReversed().flatMap(({ id, item }) => (item === undefined ? [] : [{ id, item }]));
  }

  #addChange(change: ChangeEntry & { readonly sequence: number }): void {
    if (isVoid(change)) return;
    for (const id of change.removes) this.#removed.add(id);
    for (let position = change.items - 1; position >= 0; position -= 1) {
      const id = itemId(change.group, position);
      if (this.#removed.has(id)) continue;
      const slot: Slot = { id, item: undefined };
      this.#slots.push(slot);
      this.#places.set(id, slot);
      this.#empty += 1;
    }
  }

  #addItem(entry: ItemEntry): void {
    if (this.#removed.has(entry.id)) {
      this.#garbage.push(entry.id);
    } else if (entry.group === undefined) {
      this.#slots.push({ id: entry.id, item: entry.item });
    } else {
      const slot = this.#places.get(entry.id);
      if (slot === undefined || slot.item !== undefined) return;
      slot.item = entry.item;
      this.#empty -= 1;
    }
  }
}
