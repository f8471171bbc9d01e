/**
 * What a migration reads from. A source lists its units, gives the rows of each as they would be here, and copies them; whatever it is, the
 * rest (states, checkpoints, hashes, holds) is the same for all.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { TargetIncarnation, TargetAddress } from "../knowledge/index.ts";
import type { Measured } from "./content-hash.ts";
import type { Differences } from "./differences.ts";

/** Something a retry cannot mend, and where it is. */
export interface Problem {
  readonly where: string;
  readonly reason: string;
}

/** What a source says of a unit before its rows are read. */
export interface FoundUnit {
  /** The table, file or collection, as the source calls it. Unique within the source. */
  readonly name: string;
  readonly target: TargetAddress;
  readonly created_at?: string | undefined;
  readonly description?: string | undefined;
  readonly problems?: readonly Problem[];
  /** What the source needs to know again later, such as how to make the old form. */
  readonly keep?: JsonValue | undefined;
  /** The life that the stores hold already: the unit is registered where it is, and nothing is copied. */
  readonly incarnation?: string | undefined;
  /** It is not one collection, and brings what it needs: nothing is registered or held for it. */
  readonly whole?: boolean;
}

export interface UnitName {
  readonly name: string;
  readonly keep?: JsonValue | undefined;
}

/**
 * Called often, with the rows that were read so far where those are counted. Where there is something to wait for, it is waited for: it throws
 * when another process has the work by now.
 */
export type Progress = (rows?: number) => Promise<void> | undefined;

export interface Reading {
  readonly signal: AbortSignal;
  /** Told instead of thrown, where the rest can still be looked at. */
  readonly problem: (problem: Problem) => void;
  readonly progress: Progress;
}

export interface Inventory extends Measured {
  /** Rows as they are stored, doubled ones included. */
  readonly rows: number;
}

export interface CopyStep {
  readonly scope: Scope;
  readonly place: TargetIncarnation;
  /** Unique for the migration and the unit. */
  readonly label: string;
  /** The label; another one where the unit is copied again from its beginning, so that what was appended then is appended anew. */
  readonly deltas: string;
  /** As the last step of an earlier try gave it. */
  readonly checkpoint: JsonValue | undefined;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export interface Copied {
  readonly checkpoint: JsonValue;
  /** Rows of the unit that are here now, those of earlier tries included. */
  readonly copied: number;
}

export interface Held {
  readonly scope: Scope;
  readonly place: TargetIncarnation;
  readonly signal: AbortSignal;
  readonly progress?: Progress | undefined;
}

export interface MigrationSource extends AsyncDisposable {
  units(signal: AbortSignal): AsyncIterable<FoundUnit>;
  /** Reads all of the unit, as it is now. */
  measure(unit: UnitName, reading: Reading): Promise<Inventory>;
  /** The same of what is here. */
  measureHeld(unit: UnitName, held: Held): Promise<Measured>;
  differences(unit: UnitName, held: Held): Promise<Differences>;
  /** Repeats what was not checkpointed: a row twice is a row once. */
  copy(unit: UnitName, step: CopyStep): AsyncIterable<Copied>;
  /** More than equality: what is wrong with the new form, in words. */
  check?(unit: UnitName, held: Held): Promise<readonly string[]>;
  /** Removes what was copied into a collection that was there before, or what a source that is whole brought. */
  clear(unit: UnitName, held: Clearing): Promise<void>;
  /** Of a source that makes its own place: nothing is registered, released or rolled back for it by others. */
  readonly place?: InPlaceTarget;
  /** Absent where the old form is not the source's to change. */
  readonly old?: OldForm;
}

export interface Clearing extends Held {
  /** As the copy had it. */
  readonly label: string;
  /** Also what others added or changed since. */
  readonly force: boolean;
}

/** The collection that a unit becomes, where the old form is a collection here itself. Everything can be repeated. */
export interface InPlaceTarget {
  /** How long the old form can be had back after the switch. */
  readonly retainMs: number;
  /** Makes it, held; the old form takes no writes from here on, either. */
  register(migration_id: string, signal: AbortSignal, mine: Mine): Promise<TargetIncarnation>;
  /** Puts the new one in the place of the old one, and opens it for writers. */
  takeOver(place: TargetIncarnation, migration_id: string): Promise<void>;
  /** Throws what a retry cannot mend where there is no way back; the new one is open then, as it was. */
  requireBack(giving: GivingBack): Promise<void>;
  giveBack(giving: GivingBack): Promise<void>;
  /** Ends what one that a rollback overtook has held or made after it. */
  leave(migration_id: string): Promise<void>;
  /** The old form, for good. */
  remove(signal: AbortSignal, progress: Progress): Promise<void>;
}

/** Throws where another process has the work by now. Asked before what could undo that one's. */
type Mine = () => Promise<void>;

export interface GivingBack {
  readonly migration_id: string;
  /** Whether it was decided that the new one takes the place of the old one. */
  readonly switched: boolean;
  readonly force: boolean;
  /** What the new one held when that was decided. */
  readonly verified: Measured;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly mine: Mine;
}

export interface OldForm {
  /** Whether the unit has an old form of its own; without this, every unit has. One that has none is neither removed nor restored. */
  has?(unit: UnitName): boolean;
  /** CONFLICT unless it is what was verified; nothing happens where it is gone. */
  remove(unit: UnitName, verified: Measured, signal: AbortSignal): Promise<void>;
  /** Makes it what the new form is, and proves it; nothing happens where it is so. CONFLICT for rows that it cannot hold. */
  restore(unit: UnitName, held: Held): Promise<Measured>;
}
