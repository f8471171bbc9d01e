import type { Caller, CallerInput } from "../domain/caller.ts";
import type { SystemScope } from "../domain/scope.ts";
import type { MigrationTarget, Knowledge } from "../knowledge/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { TripleStore } from "../ports/triple-store.ts";
import type { Vectors } from "../vectors/index.ts";

export interface MigrationDependencies {
  readonly items: ItemStore;
  readonly triples: TripleStore;
  readonly vectors: Vectors;
  readonly knowledge: Knowledge;
  readonly intake: MigrationTarget;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly callerOf: (who: CallerInput) => Caller;
  readonly newId: () => string;
  readonly log: (line: string) => void;
  /** Name of this process in leases. */
  readonly owner: string;
  /** Folders and addresses that may be read; "any" for the operator of the machine. */
  readonly sources: readonly string[] | "any";
}
