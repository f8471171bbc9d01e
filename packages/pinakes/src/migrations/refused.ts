import { PinakesError } from "../domain/errors.ts";
import { migrationLimits } from "./limits.ts";
import type { Work } from "./worker.ts";

/** Whether an error is permanent. */
export function isRefusal(error: unknown): error is PinakesError {
  return PinakesError.isInstance(error) && !error.retryable;
}

/**
 * A rollback refused before any change returns to its previous state, with the reason: it must not run by itself on a later day, when its
 * obstacle is gone and the new form has been used. Unless another process has it by now.
 */
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
