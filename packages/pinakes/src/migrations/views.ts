/** Migrations and their units as callers see them. */
import { isWork, type MigrationRecord, type UnitRecord } from "./records.ts";

export type MigrationView = Omit<
  MigrationRecord,
  "id" | "format" | "asker" | "before" | "lease_owner" | "lease_until"
> & {
  readonly working: boolean;
  /** Of one that was rolled back, when it is asked for by its id: the last `trash_until` of its first units. */
  readonly trash_until?: string | null;
};
export type UnitView = Omit<
  UnitRecord,
  "id" | "migration_id" | "checkpoint" | "again" | "keep" | "adopted" | "whole"
> & {
  /** After a rollback: when the collection that it made goes for good. Null where it is not in the trash, or not any more. */
  readonly trash_until: string | null;
};

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
