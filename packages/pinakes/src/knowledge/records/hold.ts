/** A collection that a migration fills refuses all other writes; reads continue (RFC 0009). */
import { PinakesError, show } from "../../domain/errors.ts";
import type { CollectionRecord } from "./records.ts";

/** Retry-After for a writer refused by a hold. */
const heldRetryMs = 30_000;

class HeldError extends PinakesError {
  readonly retryAfterMs = heldRetryMs;
}

export function requireNotHeld({ collection_id, hold }: CollectionRecord): void {
  if (hold === undefined) return;
  throw new HeldError(
    "UNAVAILABLE",
    `Collection "${collection_id}" accepts no writes while migration "${hold.migration_id}" is in progress; it can be read. Try again later.`,
  );
}

/** The record held by this migration; undefined if it already is. CONFLICT if another migration holds it. */
export function heldBy(record: CollectionRecord, migration_id: string): CollectionRecord | undefined {
  const holder = record.hold?.migration_id;
  if (holder === migration_id) return undefined;
  if (holder === undefined) return { ...record, hold: { migration_id } };
  throw new PinakesError(
    "CONFLICT",
    `Collection ${show(record.collection_id)} is held by migration ${show(holder)}; finish or roll back that migration first.`,
  );
}

/** The record without this migration's hold; undefined if it does not hold it. */
export function freedBy({ hold, ...record }: CollectionRecord, migration_id: string): CollectionRecord | undefined {
  return hold?.migration_id === migration_id ? record : undefined;
}
