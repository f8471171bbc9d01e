/**
 * Executes the work of one state of a migration, under a lease, resuming the last attempt. Every write is either an upsert of the same
 * content or conditional on the lease, so it can stop anywhere and be repeated.
 */
import { PinakesError } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { Scope } from "../domain/scope.ts";
import { isSame, type Measured } from "./content-hash.ts";
import { differenceText } from "./differences.ts";
import { strictly } from "./entry-source.ts";
import { lostLease, type Ledger } from "./ledger.ts";
import { migrationLimits } from "./limits.ts";
import { planUnits } from "./plan-units.ts";
import type { MigrationDependencies } from "./dependencies.ts";
import { progressOf, telling } from "./progress.ts";
import type { MigrationRecord, State, UnitRecord } from "./records.ts";
import { isRefusal, refused } from "./refused.ts";
import { leaveUnit, requireUnitBack, rollBackUnit } from "./roll-back-unit.ts";
import type { Held, MigrationSource, Progress } from "./source.ts";

export interface Work {
  readonly deps: MigrationDependencies;
  readonly ledger: Ledger;
  readonly scope: Scope;
  readonly record: MigrationRecord;
  readonly source: MigrationSource;
  readonly signal: AbortSignal;
  /** Renews the lease and reports progress; throws if the lease is lost. */
  readonly tell: (progress: MigrationRecord["progress"]) => Promise<void>;
}

/** The changes of the record when the work of its state is done. */
export async function work(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  switch (of.record.state) {
    case "planning":
      return planUnits(of);
    case "copying":
      return copyUnits(of);
    case "verifying":
      return (await verifyUnits(of)) ?? { state: "ready" };
    case "switching":
      return switchUnits(of);
    case "finishing":
      return finishUnits(of);
    case "rolling_back":
      return rollBack(of);
    default:
      throw new PinakesError("INTERNAL", `There is no work in the state ${of.record.state}.`);
  }
}

async function copyUnits(of: Work): Promise<{ readonly state: State }> {
  const { deps, ledger, scope, record, source, signal } = of;
  for await (const found of ledger.units(scope, record.migration_id)) {
    const differed = found.status === "copied" && found.differences !== null;
    if (found.status !== "planned" && found.status !== "copying" && !differed) continue;
    let unit = await placed(of, { ...found, ...(differed ? anew(found) : {}), status: "copying" });
    const destination = destinationOf(unit);
    const label = labelOf(record, unit);
    const deltas = unit.again === undefined ? label : `${label}.again-${unit.again}`;
    const checkpoint = unit.checkpoint ?? undefined;
    for await (const step of source.copy(unit, {
      scope,
      destination,
      label,
      deltas,
      checkpoint,
      signal,
      progress: telling(of, unit),
    })) {
      unit = { ...unit, checkpoint: step.checkpoint as UnitRecord["checkpoint"], copied: step.copied };
      await of.tell(progressOf(unit, step.copied));
      await ledger.putUnit(scope, unit, deps.owner);
      signal.throwIfAborted();
    }
    await ledger.putUnit(scope, { ...unit, status: "copied" }, deps.owner);
  }
  return { state: "copied" };
}

/** From the first row. Rows that are missing or different here are written; additional rows may belong to others, and stay. */
function anew({ again = 0 }: UnitRecord): Partial<UnitRecord> {
  return { checkpoint: null, copied: 0, differences: null, again: again + 1 };
}

/** Registers and holds the target. A target created after a rollback has overtaken this worker is removed again: nobody else would. */
async function placed(of: Work, found: UnitRecord): Promise<UnitRecord> {
  const { ledger, scope, deps } = of;
  try {
    const { incarnation, repository_id, made } = await registered(of, found);
    const unit = { ...found, incarnation, repository_id, made: found.made || made };
    await ledger.putUnit(scope, unit, deps.owner);
    return unit;
  } catch (error) {
    const now = await ledger.read(scope, found.migration_id);
    // A rollback in progress after a switch needs its holds, and releases them itself.
    if (now?.state === "rolled_back" || (now?.state === "rolling_back" && now.switched_at === null))
      await leaveUnit(of, found);
    throw error;
  }
}

async function registered(of: Work, found: UnitRecord): Promise<Held["destination"] & { readonly made: boolean }> {
  const { deps, scope, record, source, signal } = of;
  if (found.whole) return { ...nowhere, made: false };
  if (source.inPlace !== undefined) {
    const ensureOwned = async () => of.tell(progressOf(found, found.copied));
    return { ...(await source.inPlace.register(record.migration_id, signal, ensureOwned)), made: true };
  }
  return deps.intake.register(scope, found.target, {
    migration_id: record.migration_id,
    created_by: record.created_by,
    created_at: found.created_at ?? undefined,
    description: found.description ?? undefined,
    incarnation: found.adopted ?? undefined,
  });
}

/** Undefined if every unit is equal; otherwise the state to return to, with the differences. */
async function verifyUnits(of: Work): Promise<{ readonly state: State; readonly error: string } | undefined> {
  const { ledger, scope, record, deps } = of;
  const wrong: string[] = [];
  for await (const unit of ledger.units(scope, record.migration_id)) {
    const { verified, sentence } = await verifyUnit(of, unit);
    await ledger.putUnit(scope, verified, deps.owner);
    if (sentence !== undefined) wrong.push(sentence);
  }
  if (wrong.length === 0) return undefined;
  const error = `${wrong.length} of ${record.unit_count} are not equal: ${wrong.slice(0, migrationLimits.problemsMax).join(" ")}`;
  return { state: "copied", error };
}

async function verifyUnit(
  of: Work,
  unit: UnitRecord,
): Promise<{ readonly verified: UnitRecord; readonly sentence?: string }> {
  const { source, signal } = of;
  await of.tell(progressOf(unit, 0));
  const now = await source.measure(unit, strictly(signal, telling(of, unit)));
  const held = { scope: of.scope, destination: destinationOf(unit), signal, progress: telling(of, unit) };
  const here = await source.measureHeld(unit, held);
  const measured = { count: now.count, hash: now.hash, rows: now.rows, held_count: here.count, held_hash: here.hash };
  // A unit that was equal before is copied again, too; an existing target is not ours to fill.
  const wrong = (differences: string): UnitRecord => ({
    ...unit,
    ...measured,
    status: unit.status === "already" ? "already" : "copied",
    differences,
  });
  if (!isSame(now, here)) {
    const differences = differenceText(await source.differences(unit, held));
    return {
      verified: wrong(differences),
      sentence: `${unit.name}: ${now.count} in the source, ${here.count} here (${differences}).`,
    };
  }
  const faults = (await source.check?.(unit, held)) ?? [];
  if (faults.length > 0) return { verified: wrong(faults.join("; ")), sentence: `${unit.name}: ${faults.join("; ")}.` };
  return {
    verified: {
      ...unit,
      ...measured,
      differences: null,
      ...(unit.status === "already" ? {} : { status: "verified", copied: here.count }),
    },
  };
}

/** Verifies again, since it must be equal now. */
async function switchUnits(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  const { deps, ledger, scope, record, source } = of;
  if (record.switched_at === null) {
    const unequal = await verifyUnits(of);
    if (unequal !== undefined) return unequal;
    // The commit point: released collections must not be compared again, since others may write to them.
    const now = new Date(deps.clock.now());
    const until = new Date(now.getTime() + ((await source.inPlace?.retainMs()) ?? record.retain_days * 86_400_000));
    const decided = { switched_at: now.toISOString(), retain_until: until.toISOString() };
    await ledger.update(scope, record.migration_id, (current) => {
      if (current.lease_owner !== deps.owner) throw lostLease(record.migration_id);
      return { ...current, ...decided };
    });
  }
  for await (const unit of ledger.units(scope, record.migration_id)) {
    if (unit.status === "already") continue;
    if (source.inPlace !== undefined) await source.inPlace.takeOver(destinationOf(unit), record.migration_id);
    else if (!unit.whole) await deps.intake.release(scope, destinationOf(unit), record.migration_id);
    await ledger.putUnit(scope, { ...unit, status: "switched" }, deps.owner);
  }
  return { state: "switched" };
}

/** The old form is removed only if the record says so, and only as verified (R-TG-96). */
async function finishUnits(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  const { deps, ledger, scope, record, source, signal } = of;
  for await (const unit of ledger.units(scope, record.migration_id)) {
    if (!record.remove_old || (source.old ?? source.inPlace) === undefined || unit.old !== "kept") continue;
    if (source.old?.has?.(unit) === false) continue;
    const verified: Measured = { count: unit.count, hash: unit.hash };
    await of.tell(progressOf(unit, 0));
    await source.old?.remove(unit, verified, signal);
    await source.inPlace?.remove(signal, telling(of, unit));
    await ledger.putUnit(scope, { ...unit, old: "removed" }, deps.owner);
  }
  return { state: "finished", finished_at: new Date(deps.clock.now()).toISOString() };
}

async function rollBack(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  await requireAllBack(of);
  let started = false;
  for await (const unit of of.ledger.units(of.scope, of.record.migration_id)) {
    await of.tell(progressOf(unit, 0));
    if (unit.status === "rolled_back") await leaveUnit(of, unit);
    else
      await of.ledger.putUnit(
        of.scope,
        { ...(await rollBackUnit(of, unit, { started })), status: "rolled_back" },
        of.deps.owner,
      );
    started = true;
  }
  // The old form is in use again: its owner decides how long to keep it.
  return { state: "rolled_back", finished_at: new Date(of.deps.clock.now()).toISOString(), retain_until: null };
}

/** Checks all of them before the first one changes. */
async function requireAllBack(of: Work): Promise<void> {
  let beat: Progress | undefined;
  for await (const unit of of.ledger.units(of.scope, of.record.migration_id)) {
    // The rollback has begun: it can only be completed.
    if (unit.status === "rolled_back") return;
    beat ??= telling(of, unit);
    await beat();
    await requireUnitBack(of, unit).catch(async (error: unknown) => {
      if (isRefusal(error)) await refused(of, error);
      throw error;
    });
  }
}

/** Unique for the migration and the unit. */
export function labelOf({ migration_id }: MigrationRecord, { number }: UnitRecord): string {
  return `${migration_id}.${number}`;
}

/** The target of a unit that is not one collection. */
export const nowhere: Held["destination"] = { repository_id: "", collection_id: "", incarnation: "" };

export function destinationOf({ repository_id, incarnation, target, whole }: UnitRecord): Held["destination"] {
  if (whole) return nowhere;
  invariant(
    repository_id !== null && incarnation !== null,
    "CORRUPT",
    `unit "${target.collection}" was copied without a target`,
  );
  return { repository_id, collection_id: target.collection, incarnation };
}
