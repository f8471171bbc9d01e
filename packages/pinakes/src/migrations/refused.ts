/**
 * A rollback that is refused before anything changed leaves the migration as it was, with the reason: it must not come by itself on a later
 * day, when what was in its way is gone and the new form was worked with.
 */
import { PinakesError } from "../domain/errors.ts";
import { migrationLimits } from "./limits.ts";
import type { Work } from "./worker.ts";

/** Something that a retry cannot mend. */
export function isRefusal(error: unknown): error is PinakesError {
  return PinakesError.isInstance(error) && !error.retryable;
}

/** The state that it was asked in, unless somebody else has it by now. */
export async function refused({ deps, ledger, scope, record }: Work, error: PinakesError): Promise<void> {
  const now = deps.clock.now();
  await ledger.update(scope, record.migration_id, ({ before, ...current }) => {
    if (before === undefined || current.state !== "rolling_back" || current.lease_owner !== deps.owner)
      return undefined;
    const lease = { lease_owner: null, lease_until: now + migrationLimits.retryMs };
    return {
      ...current,
      ...lease,
      state: before,
      error: error.message,
      progress: null,
      updated_at: new Date(now).toISOString(),
    };
  });
}
