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
}

export interface RowReader extends AsyncDisposable {
  units(signal: AbortSignal): AsyncIterable<FoundUnit>;
  /** In the same order, however often. A fault of the file itself is thrown, with its place. */
  rows(unit: UnitName, signal: AbortSignal): AsyncIterable<ForeignRow>;
}

export interface CheckedRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly text?: string;
  readonly metadata: JsonObject;
}
