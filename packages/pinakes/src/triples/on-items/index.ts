import type { SystemScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { createTripleStore } from "../create-triple-store.ts";
import { ItemTripleEngine } from "./engine.ts";
import { tripleContainer } from "./quad-items.ts";

export interface ItemTriplesOptions {
  /** Stays open when the triples are closed. */
  readonly items: ItemStore;
  /** The store is called with a tenant's scope and acts for that tenant alone; internally it uses this one. */
  readonly scope: SystemScope;
}

/**
 * Triples in any item store, in one container of it: for engines that have no tables of their own for them.
 *
 * @example
 * await using triples = await openItemTriples({ items, scope: systemScope("triples", log) });
 * await triples.open(scope, "papers-1");
 */
export async function openItemTriples({ items, scope }: ItemTriplesOptions): Promise<TripleStore> {
  await items.openContainer(tripleContainer);
  return createTripleStore(new ItemTripleEngine(items, scope));
}
