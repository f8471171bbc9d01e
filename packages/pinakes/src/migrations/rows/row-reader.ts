/** Rows with vectors as other programs export them: what each reader gives, whatever the file. */
import type { JsonObject } from "../../domain/json.ts";
import type { FoundUnit, UnitName } from "../source.ts";

export interface ForeignRow {
  /** Where it stands, for messages. */
  readonly where: string;
  readonly id: unknown;
  readonly vector: unknown;
  readonly text?: unknown;
  readonly metadata?: unknown;
  /** What cannot be kept, in words. */
  readonly lost?: string | undefined;
  /** Why it is no row at all, in words. */
  readonly fault?: string | undefined;
}

/** In the place of a row that cannot be read, or of all that come after it. */
export function faultyRow(where: string, fault: string): ForeignRow {
  return { where, fault, id: undefined, vector: undefined };
}

export interface RowReader extends AsyncDisposable {
  units(signal: AbortSignal): AsyncIterable<FoundUnit>;
  /** In the same order, however often. What a retry may mend is thrown; what is wrong with a file is a row with a fault. */
  rows(unit: UnitName, signal: AbortSignal): AsyncIterable<ForeignRow>;
}

export interface CheckedRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly text?: string;
  readonly metadata: JsonObject;
}
