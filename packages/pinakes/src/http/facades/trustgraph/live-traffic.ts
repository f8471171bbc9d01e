/** Forwards imports to open exports: exports show the live traffic of this process, never stored data. */
import type { Caller } from "../../../domain/caller.ts";

type Listener = (message: object) => void;

export class LiveTraffic {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns a function that ends the subscription. */
  listen(caller: Caller, flow: string, kind: string, listener: Listener): () => void {
    const key = keyOf(caller, flow, kind);
    const here = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, here.add(listener));
    return () => {
      here.delete(listener);
      if (here.size === 0) this.#listeners.delete(key);
    };
  }

  emit(caller: Caller, flow: string, kind: string, message: () => object): void {
    const here = this.#listeners.get(keyOf(caller, flow, kind));
    if (here === undefined) return;
    const made = message();
    for (const listener of here) listener(made);
  }
}

function keyOf({ scope, userId }: Caller, flow: string, kind: string): string {
  return JSON.stringify([scope.tenant, userId, flow, kind]);
}
