/** Rows with vectors as other programs export them: the common result of all readers. */
import type { JsonObject } from "../../domain/json.ts";
import type { FoundUnit, UnitName } from "../source.ts";

export interface ForeignRow {
  /** Its location, for messages. */
  readonly where: string;
  readonly id: unknown;
  readonly vector: unknown;
  readonly text?: unknown;
  readonly metadata?: unknown;
  /** Description of what cannot be stored. */
  readonly lost?: string | undefined;
  /** Why it is not a row at all. */
  readonly fault?: string | undefined;
}

/** In place of a row that cannot be read, or of all rows after it. */
export function faultyRow(where: string, fault: string): ForeignRow {
  return { where, fault, id: undefined, vector: undefined };
}

export interface RowReader extends AsyncDisposable {
  units(signal: AbortSignal): AsyncIterable<FoundUnit>;
  /** Always in the same order. Transient errors are thrown; errors of a file become rows with a fault. */
  rows(unit: UnitName, signal: AbortSignal): AsyncIterable<ForeignRow>;
}

export interface CheckedRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly text?: string;
  readonly metadata: JsonObject;
}
