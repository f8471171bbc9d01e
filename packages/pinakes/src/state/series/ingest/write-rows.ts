/**
 * Writes the rows of one day in batches, each with the day's stamp. A refused row does not fail its neighbours: the
 * batch is retried without it. A row with an existing id is compared with the stored one, which makes retries idempotent.
 */
import { PinakesError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { utf8Bytes } from "../../../domain/json.ts";
import { limits } from "../../../domain/limits.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { ItemStore, Operation } from "../../../ports/item-store.ts";
import type { LineReport } from "./line-report.ts";
import { sameContent, type PreparedRow } from "./prepare-row.ts";
import type { Series } from "../series.ts";
import { makeStamps, stampPatch } from "../stamps.ts";

export interface Row extends PreparedRow {
  readonly line: number;
}

/** Additional operations of a series, such as the chain of the tool log. Requested again if one of them fails. */
export interface Companion {
  accompany(scope: Scope, date: string, rows: readonly Row[]): Promise<Accompanied>;
}

export interface Accompanied {
  /** At most one. */
  readonly operations: readonly Operation[];
  /** In the order of the rows. */
  readonly documents: readonly JsonObject[];
  /** Rows that cannot be stored on this day; if there are any, the batch is planned again without them. */
  readonly refused?: ReadonlyMap<Row, PinakesError>;
}

export interface WriteContext {
  readonly items: ItemStore;
  readonly scope: Scope;
  readonly series: Series;
  readonly companion: Companion | undefined;
  readonly report: LineReport;
}

/** The stamp, and the additions of a companion. */
const reservedOperations = 2;
/** A patch has ten steps, and each hour is one. */
const hoursPerBatchMax = limits.patchStepsMax;
/** Room for the stamp and, in each row, for its link of the chain. */
const reservedBytes = 16_384;
const rowReservedBytes = 320;
/** Concurrent writers may contend for the same chain position or stamp repeatedly. */
const attemptsMax = 100;

/** Batches that keep every limit; a row that is too large by itself has one to itself and is refused there. */
export function packRows(rows: readonly Row[], operationsMax: number): readonly (readonly Row[])[] {
  const batches: Row[][] = [];
  const rowsMax = Math.min(operationsMax, limits.batchOperationsMax) - reservedOperations;
  let bytes = 0;
  let hours = new Set<number>();
  for (const row of rows) {
    const size = utf8Bytes(JSON.stringify(row.document)) + rowReservedBytes;
    const last = batches.at(-1);
    const fits =
      last !== undefined &&
      last.length < rowsMax &&
      bytes + size <= limits.batchBytesMax - reservedBytes &&
      (hours.has(row.hour) || hours.size < hoursPerBatchMax);
    if (fits) last.push(row);
    else {
      batches.push([row]);
      bytes = 0;
      hours = new Set();
    }
    bytes += size;
    hours.add(row.hour);
  }
  return batches;
}

export async function writeBatch(context: WriteContext, date: string, rows: readonly Row[]): Promise<void> {
  const { items, scope, series, companion, report } = context;
  let left = rows;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const beside = await companion?.accompany(scope, date, left);
    if (beside?.refused !== undefined && beside.refused.size > 0) {
      for (const [{ line, id }, error] of beside.refused) report.refused(line, error, id);
      left = left.filter((row) => beside.refused?.has(row) !== true);
      continue;
    }
    const before: readonly Operation[] = [stampPatch(left.map(({ hour }) => hour)), ...(beside?.operations ?? [])];
    const documents = beside?.documents ?? left.map(({ document }) => document);
    try {
      await items.batch(
        scope,
        series.container,
        [date],
        [...before, ...documents.map((document) => ({ op: "create" as const, document }))],
      );
      for (const { line, id } of left) report.stored(line, id);
      return;
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      if (attempt > attemptsMax + rows.length) throw error;
      left = await afterFailure(context, date, left, error, before.length);
    }
  }
}

/** The remaining rows. */
async function afterFailure(
  context: WriteContext,
  date: string,
  left: readonly Row[],
  error: PinakesError,
  before: number,
): Promise<readonly Row[]> {
  const { items, scope, series, report } = context;
  const index = error.context.batch?.index;
  if (index === undefined || error.retryable) {
    for (const { line, id } of left) report.refused(line, error, id);
    return [];
  }
  if (index === 0 && error.code === "NOT_FOUND") {
    await makeStamps(items, scope, series, date);
    return left;
  }
  if (index < before && (error.code === "CONFLICT" || error.code === "PRECONDITION_FAILED")) return left;
  const failed = left[index - before];
  if (failed === undefined) throw error;
  if (error.code === "CONFLICT") return (await settleKnown(context, date, left)).unknown;
  report.refused(failed.line, own(error), failed.id);
  return left.filter((row) => row !== failed);
}

/** The error of the row itself, without what it means for its batch. */
function own(error: PinakesError): PinakesError {
  return PinakesError.isInstance(error.cause) ? error.cause : error;
}

/** Reports rows that are already stored: as duplicates, or as conflicts. */
export async function settleKnown(
  context: WriteContext,
  date: string,
  rows: readonly Row[],
): Promise<{ readonly unknown: readonly Row[] }> {
  const { items, scope, series, report } = context;
  const unknown: Row[] = [];
  for (let at = 0; at < rows.length; at += limits.readManyKeysMax) {
    const part = rows.slice(at, at + limits.readManyKeysMax);
    const stored = await items.readMany(
      scope,
      series.container,
      part.map(({ id }) => ({ partition: [date], id })),
    );
    part.forEach((row, i) => {
      const item = stored[i];
      if (item === undefined) unknown.push(row);
      else if (sameContent(item.document, row)) report.duplicate(row.line, row.id);
      else report.refused(row.line, otherContent(row), row.id);
    });
  }
  return { unknown };
}

export function otherContent({ id, date }: Row): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `id: "${id}" exists on ${date} with different content. Ingestion does not change rows; use another id.`,
  );
}
