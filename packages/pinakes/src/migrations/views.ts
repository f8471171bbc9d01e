/** Migrations and their units as callers see them. */
import type { Migration as MigrationView, MigrationUnit as UnitView } from "@pinakes/client";
import { isWork, type MigrationRecord, type UnitRecord } from "./records.ts";

export type { MigrationView, UnitView };

export function view({
  id: _id,
  format: _format,
  asker: _asker,
  before: _before,
  lease_owner,
  lease_until: _until,
  ...record
}: MigrationRecord): MigrationView {
  return { ...record, working: isWork(record.state) && lease_owner !== null };
}

export function unitView(record: UnitRecord, trash_until: string | null): UnitView {
  const {
    id: _id,
    migration_id: _migration,
    checkpoint: _checkpoint,
    again: _again,
    keep: _keep,
    adopted: _adopted,
    whole: _whole,
    ...unit
  } = record;
  return { ...unit, trash_until };
}
