/** Migrations: plan, copy, compare, switch, and rollback. */
import type { JsonObject } from "../json.ts";

/** States that end in "-ing" are work in progress; the others wait for the next step. */
export const migrationStates = [
  "planning",
  "planned",
  "copying",
  "copied",
  "verifying",
  "ready",
  "switching",
  "switched",
  "finishing",
  "finished",
  "rolling_back",
  "rolled_back",
] as const;
export type MigrationState = (typeof migrationStates)[number];

/** States from which a migration can be rolled back; repeatable, because a concurrent copy may have written rows meanwhile. */
export const rollbackStates: readonly MigrationState[] = migrationStates.filter(
  (state) => state !== "planning" && state !== "rolling_back",
);

export const migrationSteps = ["plan", "copy", "validate", "cutover", "finish", "rollback"] as const;
export type MigrationStep = (typeof migrationSteps)[number];

export interface MigrationProblem {
  readonly where: string;
  readonly reason: string;
}

export interface Migration {
  readonly migration_id: string;
  readonly kind: string;
  readonly source: JsonObject;
  readonly state: MigrationState;
  /** A process works on it right now. */
  readonly working: boolean;
  /** The first 20; `problem_count` counts all. */
  readonly problems: readonly MigrationProblem[];
  readonly problem_count: number;
  readonly unit_count: number;
  readonly row_count: number;
  /** Work in progress: rows of the current unit. */
  readonly progress: {
    readonly unit: string;
    readonly unit_number: number;
    readonly done: number;
    readonly total: number;
  } | null;
  /** Why the last attempt of this state ended. */
  readonly error: string | null;
  readonly retain_days: number;
  readonly remove_old: boolean;
  /** Continues automatically up to the switch. If absent, each step is requested separately. */
  readonly auto?: boolean | undefined;
  readonly force: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly switched_at: string | null;
  /** When the retention of the old form ends, after the switch; null before it, and after a rollback. */
  readonly retain_until: string | null;
  /** After a rollback, only when read by id: until when the collections it created are in the trash. */
  readonly trash_until?: string | null;
  readonly finished_at: string | null;
}

export const migrationUnitStatuses = [
  "planned",
  "already",
  "copying",
  "copied",
  "verified",
  "switched",
  "rolled_back",
] as const;
export type MigrationUnitStatus = (typeof migrationUnitStatuses)[number];

/** The remaining data of the old form. */
export const oldForms = ["kept", "removed", "restored"] as const;

/** One collection of a migration, with counts and hashes of both sides. */
export interface MigrationUnit {
  readonly number: number;
  readonly name: string;
  readonly target: {
    readonly repository?: string | undefined;
    readonly user?: string | undefined;
    readonly collection: string;
  };
  readonly status: MigrationUnitStatus;
  /** Rows as stored in the source. */
  readonly rows: number;
  /** Distinct ones, and their hash. */
  readonly count: number;
  readonly hash: string;
  readonly held_count: number | null;
  readonly held_hash: string | null;
  readonly problems: readonly MigrationProblem[];
  readonly differences: string | null;
  readonly created_at: string | null;
  readonly description: string | null;
  readonly repository_id: string | null;
  /** Which incarnation the collection is: the trash may have several of one id. */
  readonly incarnation: string | null;
  /** Whether this migration created the collection. */
  readonly made: boolean;
  /** Rows that are known to be copied. */
  readonly copied: number;
  readonly old: (typeof oldForms)[number];
  /** After a rollback: when the collection that it created is removed permanently; null when it is not in the trash. */
  readonly trash_until: string | null;
}
