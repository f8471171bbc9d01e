import { createItemStore, type ItemStoreOptions } from "../../items/create-item-store.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { MemoryItemEngine } from "./engine.ts";

/** Items in memory, lost when the process ends. For tests, and as the oracle of the property tests. */
export async function openMemoryItems(options: ItemStoreOptions = {}): Promise<ItemStore> {
  return createItemStore(new MemoryItemEngine(), options);
}
