/**
 * What a migration reads from. A source lists its units, gives the rows of each in their target form, and copies them; everything else
 * (states, checkpoints, hashes, holds) is shared by all sources.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { TargetIncarnation, TargetAddress } from "../knowledge/index.ts";
import type { Measured } from "./content-hash.ts";
import type { Differences } from "./differences.ts";

/** A permanent problem and its location. */
export interface Problem {
  readonly where: string;
  readonly reason: string;
}

/** A unit before its rows are read. */
export interface FoundUnit {
  /** The table, file or collection by its name in the source. Unique within the source. */
  readonly name: string;
  readonly target: TargetAddress;
  readonly created_at?: string | undefined;
  readonly description?: string | undefined;
  readonly problems?: readonly Problem[];
  /** What the source needs later, such as how to restore the old form. */
  readonly keep?: JsonValue | undefined;
  /** The incarnation that the stores already hold: the unit is registered in place, and nothing is copied. */
  readonly incarnation?: string | undefined;
  /** Not a single collection; brings what it needs: nothing is registered or held for it. */
  readonly whole?: boolean;
}

export interface UnitName {
  readonly name: string;
  readonly keep?: JsonValue | undefined;
}

/**
 * Called often, with the number of rows read so far, if counted. The result, if any, must be awaited: it throws when another process has
 * taken over the work.
 */
export type Progress = (rows?: number) => Promise<void> | undefined;

export interface Reading {
  readonly signal: AbortSignal;
  /** Reports instead of throwing, if the rest can still be read. */
  readonly problem: (problem: Problem) => void;
  readonly progress: Progress;
}

export interface Inventory extends Measured {
  /** Stored rows, including duplicates. */
  readonly rows: number;
}

export interface CopyStep {
  readonly scope: Scope;
  readonly destination: TargetIncarnation;
  /** Unique for the migration and the unit. */
  readonly label: string;
  /** The label; changed if the unit is copied again from the start, so that everything is appended again. */
  readonly deltas: string;
  /** From the last step of an earlier attempt. */
  readonly checkpoint: JsonValue | undefined;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export interface Copied {
  readonly checkpoint: JsonValue;
  /** Rows of the unit that are now here, including those of earlier attempts. */
  readonly copied: number;
}

export interface Held {
  readonly scope: Scope;
  readonly destination: TargetIncarnation;
  readonly signal: AbortSignal;
  readonly progress?: Progress | undefined;
}

export interface MigrationSource extends AsyncDisposable {
  units(signal: AbortSignal): AsyncIterable<FoundUnit>;
  /** Reads the whole unit in its current state. */
  measure(unit: UnitName, reading: Reading): Promise<Inventory>;
  /** The same for the target. */
  measureHeld(unit: UnitName, held: Held): Promise<Measured>;
  differences(unit: UnitName, held: Held): Promise<Differences>;
  /** Idempotent: repeats what was not checkpointed. */
  copy(unit: UnitName, step: CopyStep): AsyncIterable<Copied>;
  /** Beyond equality: faults of the new form. */
  check?(unit: UnitName, held: Held): Promise<readonly string[]>;
  /** Removes what was copied into an existing collection, or what a whole source brought. */
  clear(unit: UnitName, held: Clearing): Promise<void>;
  /** A source that manages its own target: nothing is registered, released or rolled back for it by others. */
  readonly inPlace?: InPlaceTarget;
  /** Absent if the source cannot change the old form. */
  readonly old?: OldForm;
}

export interface Clearing extends Held {
  /** As in the copy. */
  readonly label: string;
  /** Also removes what others added or changed since. */
  readonly force: boolean;
}

/** The target of a unit whose old form is a collection here itself. Everything is idempotent. */
export interface InPlaceTarget {
  /** How long the old form can be restored after the switch. */
  readonly retainMs: () => Promise<number>;
  /** Creates it, held; the old form accepts no writes from here on, either. */
  register(migration_id: string, signal: AbortSignal, ensureOwned: EnsureOwned): Promise<TargetIncarnation>;
  /** Replaces the old collection with the new one, and opens it for writers. */
  takeOver(destination: TargetIncarnation, migration_id: string): Promise<void>;
  /** Throws a permanent error if there is no way back; the new one is then open as before. */
  requireBack(giving: GivingBack): Promise<void>;
  giveBack(giving: GivingBack): Promise<void>;
  /** Removes what an overtaken process held or created after a rollback. */
  leave(migration_id: string): Promise<void>;
  /** Removes the old form permanently. */
  remove(signal: AbortSignal, progress: Progress): Promise<void>;
}

/** Throws if another process has taken over the work. Called before steps that could undo the work of that process. */
type EnsureOwned = () => Promise<void>;

export interface GivingBack {
  readonly migration_id: string;
  /** Whether the switch was decided. */
  readonly switched: boolean;
  readonly force: boolean;
  /** The contents of the new one at that time. */
  readonly verified: Measured;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly ensureOwned: EnsureOwned;
}

export interface OldForm {
  /** Whether the unit has an old form; by default every unit has. Units without one are neither removed nor restored. */
  has?(unit: UnitName): boolean;
  /** CONFLICT unless it equals what was verified; does nothing if it is gone. */
  remove(unit: UnitName, verified: Measured, signal: AbortSignal): Promise<void>;
  /** Makes it equal to the new form, and proves it; does nothing if it already is. CONFLICT for rows that it cannot contain. */
  restore(unit: UnitName, held: Held): Promise<Measured>;
}
