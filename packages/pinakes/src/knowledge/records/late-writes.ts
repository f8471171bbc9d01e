/** Counts late writes in this process: writes that a store refused because their collection had ended. */
import type { ItemStore } from "../../ports/item-store.ts";

const refused = new WeakMap<ItemStore, number>();

export function noteLateWrite(items: ItemStore): void {
  refused.set(items, lateWrites(items) + 1);
}

export function lateWrites(items: ItemStore): number {
  return refused.get(items) ?? 0;
}
