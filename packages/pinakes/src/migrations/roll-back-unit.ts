/** The way back of one unit: the old form is whole again, with the content that the new one has now; then the new one goes (R-TG-97). */
import { PinakesError, show } from "../domain/errors.ts";
import { telling } from "./progress.ts";
import type { UnitRecord } from "./records.ts";
import { labelOf, placeOf, type Work } from "./worker.ts";

export async function rollBackUnit(of: Work, unit: UnitRecord): Promise<UnitRecord> {
  const { parts, scope, record, source, signal } = of;
  if (source.place !== undefined) {
    const verified = { count: unit.held_count ?? 0, hash: unit.held_hash ?? "" };
    const { migration_id, force } = record;
    await source.place.giveBack({ migration_id, switched: record.switched_at !== null, force, verified, signal, progress: telling(of, unit) });
    return unit;
  }
  // Nothing of it was touched; what was there before is not ours to remove.
  if (unit.incarnation === null || unit.status === "already") return unit;
  const place = placeOf(unit);
  const clearing = { scope, place, signal, label: labelOf(record, unit), force: record.force };
  if (unit.whole) {
    await source.clear(unit, clearing);
    return unit;
  }
  const there = await parts.intake.find(scope, place);
  if (there?.incarnation !== place.incarnation) {
    if (unit.old === "removed")
      throw new PinakesError(
        "CONFLICT",
        `Collection ${show(place.collection_id)} was deleted, and the old form is made from it. Restore it first, then roll back.`,
      );
    // Gone already, by an earlier try or by somebody else; the old form is there.
    return unit;
  }
  if (unit.made && there.document_count > 0 && !record.force)
    throw new PinakesError(
      "CONFLICT",
      `Collection ${show(place.collection_id)} has ${there.document_count} documents that the old form cannot hold. Move them first, or roll back with force: they go to the trash with it.`,
    );
  await parts.intake.hold(scope, place, record.migration_id);
  let next = unit;
  if (source.old !== undefined && record.switched_at !== null) {
    const { count, hash } = await source.old.restore(unit, { scope, place, signal });
    next = { ...unit, held_count: count, held_hash: hash, old: unit.old === "removed" ? "restored" : unit.old };
    await of.ledger.putUnit(scope, next, parts.owner);
  }
  if (!unit.made) await source.clear(unit, clearing);
  await parts.intake.release(scope, place, record.migration_id);
  if (unit.made && unit.adopted === null) await remove(of, unit);
  // What was only registered is only unregistered.
  if (unit.made && unit.adopted !== null) await parts.intake.unregister(scope, place, record.migration_id);
  return next;
}

/** To the trash, as everything that is deleted: a rollback by mistake loses nothing. */
async function remove({ parts, scope, record }: Work, unit: UnitRecord): Promise<void> {
  const { repository_id, collection_id } = placeOf(unit);
  const admin = parts.callerOf({ tenant: scope.tenant, userId: record.created_by, role: "admin" });
  const job = await parts.knowledge.deleteCollection(admin, repository_id, collection_id, { confirm: collection_id });
  // Looked at, not believed: a job that was tried again may have found that the record had just changed, and have left it alone.
  if ((await parts.intake.find(scope, placeOf(unit)))?.incarnation !== unit.incarnation) return;
  throw new PinakesError("UNAVAILABLE", `Collection ${show(collection_id)} could not be deleted yet (${job.error ?? job.status}); roll back again.`);
}
