/**
 * A store that holds data of collections, as the lifecycle sees it. Everything is by incarnation, never by a name that people chose, and
 * everything can be repeated: a message that comes twice finds less to do, or nothing.
 */
import type { Scope } from "../domain/scope.ts";
import type { StoreClass } from "./topics.ts";

/** One life of a collection. The tenant is the scope's. */
export interface Incarnation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export interface ParticipantCapabilities {
  /** Whether it can remove all of a life. Without it, collections can only be purged with `allow_partial`. */
  readonly delete: boolean;
  readonly archive: boolean;
  /** Whether `incarnations` lists what it holds, for the reconciliation. */
  readonly list: boolean;
}

export interface ParticipantInfo {
  readonly store: string;
  readonly class: StoreClass;
  readonly capabilities: ParticipantCapabilities;
}

export interface Participant extends ParticipantInfo {
  /** No writes from here on, and no reads; every byte stays. `purgeAt`: when the bytes go, in epoch milliseconds. */
  fence(scope: Scope, life: Incarnation, options: { readonly purgeAt: number }): Promise<void>;
  /** Takes the fence back. CONFLICT once removing has begun. */
  unfence(scope: Scope, life: Incarnation, options: { readonly archived: boolean }): Promise<void>;
  /** Refuses the life for ever, and removes up to about `limit` rows of it; call again until `done`. Of a life that never was: 0, done. */
  deleteStep(
    scope: Scope,
    life: Incarnation,
    options: { readonly limit: number },
  ): Promise<{ readonly deleted: number; readonly done: boolean }>;
  /** What is left of a life, also when it is fenced. */
  count(scope: Scope, life: Incarnation): Promise<number>;
  /** Makes sure that the life takes no more writes, and tells what it holds. */
  archive(scope: Scope, life: Incarnation): Promise<{ readonly count: number }>;
  /** The lives it holds something of, in pages. */
  incarnations(
    scope: Scope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldLives>;
}

export interface HeldLives {
  readonly lives: readonly Pick<Incarnation, "incarnation" | "repository_id">[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
}
