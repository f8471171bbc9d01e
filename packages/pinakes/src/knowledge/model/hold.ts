/** A collection that a migration fills is closed for everybody else's writes; reads go on (RFC 0009). */
import { PinakesError } from "../../domain/errors.ts";
import type { CollectionRecord } from "./records.ts";

/** How long a writer that met a hold is asked to wait. */
const heldRetryMs = 30_000;

class HeldError extends PinakesError {
  readonly retryAfterMs = heldRetryMs;
}

export function requireNotHeld({ collection_id, hold }: CollectionRecord): void {
  if (hold === undefined) return;
  throw new HeldError(
    "UNAVAILABLE",
    `Collection "${collection_id}" takes no writes while migration "${hold.migration_id}" is under way; it can be read. Try again later.`,
  );
}
