/** A deliberate defect of the protocol, injected from outside: on the way to the store, or as another policy. */
import type { Operation } from "../../../src/ports/item-store.ts";
import type { VectorPolicy } from "../../../src/vectors/store/dependencies.ts";

export interface Mutant {
  readonly name: string;
  /** Changes a batch of the collection's partition; `owner` is the sender. */
  readonly batch?: (operations: readonly Operation[], owner: string) => readonly Operation[];
  readonly policy?: Partial<VectorPolicy>;
}
