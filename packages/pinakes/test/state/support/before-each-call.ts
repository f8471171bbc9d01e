/** The store, with something to happen before each call: waiting, or the end of the process. */
import type { ItemStore } from "../../../src/ports/item-store.ts";

export function beforeEachCall(
  items: ItemStore,
  before: (method: string, args: readonly unknown[]) => Promise<void>,
): ItemStore {
  return new Proxy(items, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      // Answered from memory.
      if (property === "defaultTtl") return value.bind(target) as unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        await before(String(property), args);
        return Reflect.apply(value, target, args) as Promise<unknown>;
      };
    },
  });
}
