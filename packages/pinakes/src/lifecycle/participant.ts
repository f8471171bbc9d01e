/**
 * A store that holds data of collections, as the lifecycle sees it. Everything is keyed by incarnation, never by a name chosen by users,
 * and idempotent: a duplicate message finds less or nothing to do.
 */
import type { Scope } from "../domain/scope.ts";
import type { StoreClass } from "./topics.ts";

/** One incarnation of a collection. The tenant is in the scope. */
export interface Incarnation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export interface ParticipantCapabilities {
  /** Whether it can remove an incarnation. Without it, collections can only be purged with `allow_partial`. */
  readonly delete: boolean;
  readonly archive: boolean;
  /** Whether `incarnations` lists its contents, for reconciliation. */
  readonly list: boolean;
}

export interface ParticipantInfo {
  readonly store: string;
  readonly class: StoreClass;
  readonly capabilities: ParticipantCapabilities;
}

export interface Participant extends ParticipantInfo {
  /** Stops writes and reads; every byte stays. `purgeAt`: when the bytes are removed, in epoch milliseconds. */
  fence(scope: Scope, incarnation: Incarnation, options: { readonly purgeAt: number }): Promise<void>;
  /** Undoes `fence`. CONFLICT once removal has begun. */
  unfence(scope: Scope, incarnation: Incarnation, options: { readonly archived: boolean }): Promise<void>;
  /**
   * Refuses the incarnation permanently, and removes up to about `limit` rows; call again until `done`. For an unknown incarnation: 0,
   * done.
   */
  deleteStep(
    scope: Scope,
    incarnation: Incarnation,
    options: { readonly limit: number },
  ): Promise<{ readonly deleted: number; readonly done: boolean }>;
  /** What remains of an incarnation, even if fenced. */
  count(scope: Scope, incarnation: Incarnation): Promise<number>;
  /** Ensures that the incarnation accepts no more writes, and returns its count. */
  archive(scope: Scope, incarnation: Incarnation): Promise<{ readonly count: number }>;
  /** The incarnations it holds data of, in pages. */
  incarnations(
    scope: Scope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldIncarnations>;
}

export interface HeldIncarnations {
  readonly incarnations: readonly Pick<Incarnation, "incarnation" | "repository_id">[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
}
