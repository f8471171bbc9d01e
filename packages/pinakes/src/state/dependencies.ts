/** Dependencies of the state features. */
import type { WorkRegistry } from "../containers/index.ts";
import type { Slots } from "../domain/query-slots.ts";
import type { SystemScope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Vectors } from "../vectors/index.ts";

/** `workflow`: a timeout or an expiry; `session`: one that expires as a unit; `seal`: an hour of a series that is over; `container`: a deleted one to empty. */
export type StateWorkKind = "workflow" | "session" | "seal" | "container";

export interface StateDependencies {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly vectors: Vectors;
  /** For semantic search in memories; opened on first use. Absent: keyword search only. */
  readonly embedder: (() => Promise<Embedder>) | undefined;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly system: SystemScope;
  /** Concurrency slots for expensive queries; absent: no limit. */
  readonly places?: Slots | undefined;
  /** The name of the default database; `pinakes` by default. */
  readonly database?: string | undefined;
  readonly work: WorkRegistry<StateWorkKind>;
  /** Time-ordered and unique. */
  readonly newId: () => string;
  /** Signs cursors of queries that are sorted in memory; the same in every process of a store. */
  readonly signingKey: Uint8Array;
}

export const stateWorkContainer = "state-work";
export const stateTenant = "pinakes.state";
