/** A change of the protocol for the worse, made from outside: on the way to the store, or as another policy. */
import type { Operation } from "../../../src/ports/item-store.ts";
import type { VectorPolicy } from "../../../src/vectors/store/dependencies.ts";

export interface Mutant {
  readonly name: string;
  /** What it does to a batch of the collection's partition; `owner` is who sends it. */
  readonly batch?: (operations: readonly Operation[], owner: string) => readonly Operation[];
  readonly policy?: Partial<VectorPolicy>;
}
