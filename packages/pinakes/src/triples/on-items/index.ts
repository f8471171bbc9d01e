import type { SystemScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { createTripleStore } from "../create-triple-store.ts";
import { ItemTripleEngine } from "./engine.ts";
import { tripleContainer } from "./quad-items.ts";

export interface ItemTriplesOptions {
  /** Not closed together with the triples. */
  readonly items: ItemStore;
  /** Callers pass a tenant's scope, and the store acts for that tenant only; internally it uses this scope. */
  readonly scope: SystemScope;
}

/**
 * Triples in one container of any item store: for engines without their own triple tables.
 *
 * @example
 * await using triples = await openItemTriples({ items, scope: systemScope("triples", log) });
 * await triples.open(scope, "papers-1");
 */
export async function openItemTriples({ items, scope }: ItemTriplesOptions): Promise<TripleStore> {
  await items.openContainer(tripleContainer);
  return createTripleStore(new ItemTripleEngine(items, scope));
}
