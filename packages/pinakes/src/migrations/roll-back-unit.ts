/** Rolls back one unit: the old form is restored, with the current content of the new one; then the new one is removed (R-TG-97). */
import { PinakesError, show } from "../domain/errors.ts";
import { progressOf, telling } from "./progress.ts";
import type { UnitRecord } from "./records.ts";
import { isRefusal, refused } from "./refused.ts";
import type { GivingBack, Held } from "./source.ts";
import { labelOf, destinationOf, type Work } from "./worker.ts";

/** A unit with data in a target. */
type TouchedUnit = UnitRecord & { readonly destination: Held["destination"] };

/** Throws if the unit cannot be rolled back, and leaves it open, so that the cause can be fixed. Changes nothing. */
export async function requireUnitBack(of: Work, found: UnitRecord): Promise<void> {
  const { deps, scope, record, source } = of;
  if (source.inPlace !== undefined) return source.inPlace.requireBack(givingBack(of, found));
  const unit = await touched(of, found);
  if (unit === undefined || unit.whole) return undefined;
  const collection = show(unit.target.collection);
  const there = await deps.intake.find(scope, unit.destination);
  const isThere = there?.incarnation === unit.destination.incarnation;
  if (!isThere && unit.old === "removed")
    throw new PinakesError(
      "CONFLICT",
      `Collection ${collection} was deleted, and the old form is restored from it. Restore it first, then roll back.`,
    );
  if (!isThere || !unit.made || there.document_count === 0 || record.force) return undefined;
  // Held since an earlier attempt died.
  if (record.switched_at !== null) await deps.intake.release(scope, unit.destination, record.migration_id);
  throw new PinakesError(
    "CONFLICT",
    `Collection ${collection} has ${there.document_count} documents that the old form cannot contain. Move them first, or roll back with force: they go to the trash with it.`,
  );
}

/** `begun`: another unit was already rolled back. */
export async function rollBackUnit(
  of: Work,
  found: UnitRecord,
  { started }: { readonly started: boolean },
): Promise<UnitRecord> {
  const { deps, scope, record, source, signal } = of;
  if (source.inPlace !== undefined) {
    await source.inPlace.giveBack(givingBack(of, found));
    return found;
  }
  const known = await touched(of, found);
  if (known === undefined) return found;
  const { destination, ...unit } = known;
  const clearing = { scope, destination, signal, label: labelOf(record, unit), force: record.force };
  if (unit.whole) {
    await source.clear(unit, clearing);
    return unit;
  }
  await requireUnitBack(of, found);
  const there = await deps.intake.find(scope, destination);
  // Already removed, by an earlier attempt or by someone else; the old form exists.
  if (there?.incarnation !== destination.incarnation) return unit;
  const next = await oldFormBack(of, known).catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error;
    // The old form changes atomically. Whoever fixes the obstacle needs access.
    if (record.switched_at !== null) await deps.intake.release(scope, destination, record.migration_id);
    if (!started) await refused(of, error);
    throw error;
  });
  if (!unit.made) await source.clear(unit, clearing);
  await takeAway(of, next);
  return next;
}

/** The new form is held from here on. */
async function oldFormBack(
  { deps, ledger, scope, record, source, signal }: Work,
  { destination, ...unit }: TouchedUnit,
): Promise<UnitRecord> {
  await deps.intake.hold(scope, destination, record.migration_id);
  if (source.old === undefined || source.old.has?.(unit) === false || record.switched_at === null) return unit;
  const { count, hash } = await source.old.restore(unit, { scope, destination, signal });
  const next: UnitRecord = {
    ...unit,
    held_count: count,
    held_hash: hash,
    old: unit.old === "removed" ? "restored" : unit.old,
  };
  await ledger.putUnit(scope, next, deps.owner);
  return next;
}

/** Of a rolled-back unit: releases or removes what an overtaken copy held or created since. Nothing was copied into it. */
export async function leaveUnit(of: Work, found: UnitRecord): Promise<void> {
  const { deps, scope, record, source } = of;
  if (found.whole) return;
  if (source.inPlace !== undefined) return source.inPlace.leave(record.migration_id);
  const there = await deps.intake.find(scope, deps.intake.idsOf(found.target));
  if (there?.held_by !== record.migration_id) return;
  await takeAway(of, { ...found, ...destinationFields(there), made: there.made_by === record.migration_id });
}

/**
 * Undefined if nothing was touched; existing data must not be removed. The process that registered it may have died before the unit
 * recorded it: then the collection's record does.
 */
async function touched({ deps, scope, record }: Work, unit: UnitRecord): Promise<TouchedUnit | undefined> {
  if (unit.status === "already") return undefined;
  if (unit.incarnation !== null) return { ...unit, destination: destinationOf(unit) };
  // An invalid unit was never copied, and may have no ids.
  if (unit.whole || unit.problems.length > 0) return undefined;
  const there = await deps.intake.find(scope, deps.intake.idsOf(unit.target));
  const made = there?.made_by === record.migration_id;
  if (there === undefined || (!made && there.held_by !== record.migration_id)) return undefined;
  return { ...unit, ...destinationFields(there), made, destination: there };
}

function givingBack(of: Work, unit: UnitRecord): GivingBack {
  const { migration_id, force, switched_at } = of.record;
  return {
    migration_id,
    switched: switched_at !== null,
    force,
    verified: { count: unit.held_count ?? 0, hash: unit.held_hash ?? "" },
    signal: of.signal,
    progress: telling(of, unit),
    ensureOwned: async () => of.tell(progressOf(unit, 0)),
  };
}

/** What was created goes to the trash, what was only registered is unregistered, everything else is released. */
async function takeAway(of: Work, unit: UnitRecord): Promise<void> {
  const { deps, scope, record } = of;
  const destination = destinationOf(unit);
  await deps.intake.release(scope, destination, record.migration_id);
  if (unit.made && unit.adopted === null) await remove(of, unit);
  if (unit.made && unit.adopted !== null) await deps.intake.unregister(scope, destination, record.migration_id);
}

function destinationFields({
  repository_id,
  incarnation,
}: Held["destination"]): Pick<UnitRecord, "repository_id" | "incarnation"> {
  return { repository_id, incarnation };
}

/** To the trash, like every delete: a mistaken rollback loses nothing. */
async function remove({ deps, scope, record }: Work, unit: UnitRecord): Promise<void> {
  const { repository_id, collection_id } = destinationOf(unit);
  const admin = deps.callerOf({ tenant: scope.tenant, userId: record.created_by, role: "admin" });
  const job = await deps.knowledge.collections.delete(admin, repository_id, collection_id, { confirm: collection_id });
  // Verified, since a retried job may have found that the record had just changed, and skipped it.
  if ((await deps.intake.find(scope, destinationOf(unit)))?.incarnation !== unit.incarnation) return;
  throw new PinakesError(
    "UNAVAILABLE",
    `Collection ${show(collection_id)} could not be deleted yet (${job.error ?? job.status}); roll back again.`,
  );
}
