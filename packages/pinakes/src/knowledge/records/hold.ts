/** A collection that a migration fills is closed for everybody else's writes; reads go on (RFC 0009). */
import { PinakesError, show } from "../../domain/errors.ts";
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

/** What the record becomes where this migration holds it; undefined where it does already. CONFLICT where another one does. */
export function heldBy(record: CollectionRecord, migration_id: string): CollectionRecord | undefined {
  const holder = record.hold?.migration_id;
  if (holder === migration_id) return undefined;
  if (holder === undefined) return { ...record, hold: { migration_id } };
  throw new PinakesError(
    "CONFLICT",
    `Collection ${show(record.collection_id)} is held by migration ${show(holder)}; finish or roll back that one first.`,
  );
}

/** What it becomes where this migration holds it no more; undefined where it is not held, or by another. */
export function freedBy({ hold, ...record }: CollectionRecord, migration_id: string): CollectionRecord | undefined {
  return hold?.migration_id === migration_id ? record : undefined;
}
