/**
 * The catalogue of collections, as far as the lifecycle needs it. Operations lie in its container, in the partition of the record they
 * are about, so that both change in one batch.
 */
import type { Scope } from "../domain/scope.ts";
import type { Operation as ItemOperation } from "../ports/item-store.ts";
import type { Incarnation } from "./participant.ts";
import type { Operation } from "./operation.ts";

export interface Catalogue {
  /** Its partition key is `repository_id`. */
  readonly container: string;
  /** What of the records changes in the batch that gives the operation this status. */
  beside(scope: Scope, operation: Operation): Promise<readonly ItemOperation[]>;
  /** The lives that a message of the source means: those of this user's collection that are being deleted. */
  livesOf(user: string, collection: string): Promise<readonly { readonly scope: Scope; readonly life: Incarnation }[]>;
  /** Whether a record names the incarnation, as far as the indexes know. */
  knows(scope: Scope, incarnation: string): Promise<boolean>;
  /** Whether a purge of the incarnation has ended: what is still there was asked to go. */
  ended(scope: Scope, incarnation: string): Promise<boolean>;
  /** Tells callers how an operation stands. Can be repeated. */
  told(scope: Scope, operation: Operation): Promise<void>;
}
