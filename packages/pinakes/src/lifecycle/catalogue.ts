/**
 * The parts of the collection catalog that the lifecycle needs. Operations are stored in its container, in the partition of the record they
 * are about, so that both change in one batch.
 */
import type { Scope } from "../domain/scope.ts";
import type { Operation as ItemOperation } from "../ports/item-store.ts";
import type { Incarnation } from "./participant.ts";
import type { Operation } from "./operation.ts";

export interface Catalogue {
  /** Its partition key is `repository_id`. */
  readonly container: string;
  /** The changes to records in the batch that gives the operation this status. */
  beside(scope: Scope, operation: Operation): Promise<readonly ItemOperation[]>;
  /** The incarnations that a message from LISA means: those of this user's collection that are being deleted. */
  incarnationsOf(
    user: string,
    collection: string,
  ): Promise<readonly { readonly scope: Scope; readonly key: Incarnation }[]>;
  /** Whether a record names the incarnation, as far as the indexes show. */
  knows(scope: Scope, key: string): Promise<boolean>;
  /** Whether a purge of the incarnation has finished: remaining data may be removed. */
  ended(scope: Scope, key: string): Promise<boolean>;
  /** Updates what callers see of an operation. Idempotent. */
  statusChanged(scope: Scope, operation: Operation): Promise<void>;
}
