/** Writes that came after the end of their collection and were refused, by the store they were meant for. Of this process. */
import type { ItemStore } from "../../ports/item-store.ts";

const refused = new WeakMap<ItemStore, number>();

export function noteLateWrite(items: ItemStore): void {
  refused.set(items, lateWrites(items) + 1);
}

export function lateWrites(items: ItemStore): number {
  return refused.get(items) ?? 0;
}
