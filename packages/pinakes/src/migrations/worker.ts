/**
 * Does the work of one state of a migration, under a lease, from where the last try stopped. Everything that is written is either an upsert
 * of the same content or conditional on the lease, so it can end anywhere and be done again.
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
import type { MigrationParts } from "./parts.ts";
import { progressOf, telling } from "./progress.ts";
import type { MigrationRecord, State, UnitRecord } from "./records.ts";
import { rollBackUnit } from "./roll-back-unit.ts";
import type { Held, MigrationSource } from "./source.ts";

export interface Work {
  readonly parts: MigrationParts;
  readonly ledger: Ledger;
  readonly scope: Scope;
  readonly record: MigrationRecord;
  readonly source: MigrationSource;
  readonly signal: AbortSignal;
  /** Renews the lease and tells how far it is; throws when the lease is lost. */
  readonly tell: (progress: MigrationRecord["progress"]) => Promise<void>;
}

/** What the record becomes when the work of its state is done. */
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
      throw new PinakesError("INTERNAL", `Nothing is to be done in the state ${of.record.state}.`);
  }
}

async function copyUnits(of: Work): Promise<{ readonly state: State }> {
  const { parts, ledger, scope, record, source, signal } = of;
  for await (const found of ledger.units(scope, record.migration_id)) {
    const differed = found.status === "copied" && found.differences !== null;
    if (found.status !== "planned" && found.status !== "copying" && !differed) continue;
    const { incarnation, repository_id, made } = await registered(of, found);
    let unit: UnitRecord = { ...found, ...(differed ? anew(found) : {}), status: "copying", incarnation, repository_id, made: found.made || made };
    await ledger.putUnit(scope, unit, parts.owner);
    const place = placeOf(unit);
    const label = labelOf(record, unit);
    const deltas = unit.again === undefined ? label : `${label}.again-${unit.again}`;
    const checkpoint = unit.checkpoint ?? undefined;
    for await (const step of source.copy(unit, { scope, place, label, deltas, checkpoint, signal, progress: telling(of, unit) })) {
      unit = { ...unit, checkpoint: step.checkpoint as UnitRecord["checkpoint"], copied: step.copied };
      await of.tell(progressOf(unit, step.copied));
      await ledger.putUnit(scope, unit, parts.owner);
      signal.throwIfAborted();
    }
    await ledger.putUnit(scope, { ...unit, status: "copied" }, parts.owner);
  }
  return { state: "copied" };
}

/** From the first row on. What is missing here or other than in the source is written; what is only here may be somebody's, and stays. */
function anew({ again = 0 }: UnitRecord): Partial<UnitRecord> {
  return { checkpoint: null, copied: 0, differences: null, again: again + 1 };
}

async function registered({ parts, scope, record, source, signal }: Work, found: UnitRecord): Promise<Held["place"] & { readonly made: boolean }> {
  if (found.whole) return { ...nowhere, made: false };
  if (source.place !== undefined) return { ...(await source.place.register(record.migration_id, signal)), made: true };
  return parts.intake.register(scope, found.target, {
    migration_id: record.migration_id,
    created_by: record.created_by,
    created_at: found.created_at ?? undefined,
    description: found.description ?? undefined,
    incarnation: found.adopted ?? undefined,
  });
}

/** Undefined when every unit is equal; otherwise the state to go back to, with what differs. */
async function verifyUnits(of: Work): Promise<{ readonly state: State; readonly error: string } | undefined> {
  const { ledger, scope, record, parts } = of;
  const wrong: string[] = [];
  for await (const unit of ledger.units(scope, record.migration_id)) {
    const { verified, sentence } = await verifyUnit(of, unit);
    await ledger.putUnit(scope, verified, parts.owner);
    if (sentence !== undefined) wrong.push(sentence);
  }
  if (wrong.length === 0) return undefined;
  const error = `${wrong.length} of ${record.unit_count} are not equal: ${wrong.slice(0, migrationLimits.problemsMax).join(" ")}`;
  return { state: "copied", error };
}

async function verifyUnit(of: Work, unit: UnitRecord): Promise<{ readonly verified: UnitRecord; readonly sentence?: string }> {
  const { source, signal } = of;
  await of.tell(progressOf(unit, 0));
  const now = await source.measure(unit, strictly(signal, telling(of, unit)));
  const held = { scope: of.scope, place: placeOf(unit), signal, progress: telling(of, unit) };
  const here = await source.measureHeld(unit, held);
  const measured = { count: now.count, hash: now.hash, rows: now.rows, held_count: here.count, held_hash: here.hash };
  if (!isSame(now, here)) {
    const differences = differenceText(await source.differences(unit, held));
    const sentence = `${unit.name}: ${now.count} in the source, ${here.count} here (${differences}).`;
    return { verified: { ...unit, ...measured, status: unit.status === "already" ? "already" : "copied", differences }, sentence };
  }
  const faults = (await source.check?.(unit, held)) ?? [];
  if (faults.length > 0) return { verified: { ...unit, ...measured, differences: faults.join("; ") }, sentence: `${unit.name}: ${faults.join("; ")}.` };
  return { verified: { ...unit, ...measured, differences: null, ...(unit.status === "already" ? {} : { status: "verified", copied: here.count }) } };
}

/** Only what is equal now, not only what was equal then. */
async function switchUnits(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  const { parts, ledger, scope, record, source } = of;
  if (record.switched_at === null) {
    const unequal = await verifyUnits(of);
    if (unequal !== undefined) return unequal;
    // From here on it is decided: what was released must not be compared again, others may write to it.
    const now = new Date(parts.clock.now());
    const until = new Date(now.getTime() + (source.place?.retainMs ?? record.retain_days * 86_400_000));
    const decided = { switched_at: now.toISOString(), retain_until: until.toISOString() };
    await ledger.update(scope, record.migration_id, (current) => {
      if (current.lease_owner !== parts.owner) throw lostLease(record.migration_id);
      return { ...current, ...decided };
    });
  }
  for await (const unit of ledger.units(scope, record.migration_id)) {
    if (unit.status === "already") continue;
    if (source.place !== undefined) await source.place.takeOver(placeOf(unit), record.migration_id);
    else if (!unit.whole) await parts.intake.release(scope, placeOf(unit), record.migration_id);
    await ledger.putUnit(scope, { ...unit, status: "switched" }, parts.owner);
  }
  return { state: "switched" };
}

/** The old form goes only where the record says so, and only as it was verified (R-TG-96). */
async function finishUnits(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  const { parts, ledger, scope, record, source, signal } = of;
  for await (const unit of ledger.units(scope, record.migration_id)) {
    if (!record.remove_old || (source.old ?? source.place) === undefined || unit.old !== "kept") continue;
    const verified: Measured = { count: unit.count, hash: unit.hash };
    await of.tell(progressOf(unit, 0));
    await source.old?.remove(unit, verified, signal);
    await source.place?.remove();
    await ledger.putUnit(scope, { ...unit, old: "removed" }, parts.owner);
  }
  return { state: "finished", finished_at: new Date(parts.clock.now()).toISOString() };
}

async function rollBack(of: Work): Promise<Partial<MigrationRecord> & { readonly state: State }> {
  for await (const unit of of.ledger.units(of.scope, of.record.migration_id)) {
    if (unit.status === "rolled_back") continue;
    await of.tell(progressOf(unit, 0));
    await of.ledger.putUnit(of.scope, { ...(await rollBackUnit(of, unit)), status: "rolled_back" }, of.parts.owner);
  }
  // The old form is the one in use again: it is kept for as long as its owner keeps it.
  return { state: "rolled_back", finished_at: new Date(of.parts.clock.now()).toISOString(), retain_until: null };
}

/** Unique for the migration and the unit. */
export function labelOf({ migration_id }: MigrationRecord, { number }: UnitRecord): string {
  return `${migration_id}.${number}`;
}

/** Of what is not one collection. */
export const nowhere: Held["place"] = { repository_id: "", collection_id: "", incarnation: "" };

export function placeOf({ repository_id, incarnation, target, whole }: UnitRecord): Held["place"] {
  if (whole) return nowhere;
  invariant(repository_id !== null && incarnation !== null, "CORRUPT", `unit "${target.collection}" was copied and has no place`);
  return { repository_id, collection_id: target.collection, incarnation };
}
