/**
 * Many lines in one call. Each line is checked, gets its day, and ends with a result of its own; the same line again, by its id, changes
 * nothing.
 *
 * With `allOrNothing`, every line is validated and every id looked up before anything is written, and one bad line means that nothing
 * is. What is then written is one batch per 98 rows and day, so a process that dies in between leaves a part behind; repeating the
 * call with the same ids writes what is missing. Lines without an id get theirs before the first write, and `report: "all"` tells them.
 */
import type { IngestOptions, IngestResult } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../../domain/errors.ts";
import { KeyedQueue } from "../../../runtime/keyed-queue.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { ItemStore } from "../../../ports/item-store.ts";
import { inParallel } from "../../../runtime/in-parallel.ts";
import { LineReport } from "./line-report.ts";
import { sameContent } from "./prepare-row.ts";
import { seriesLimits, type Series } from "../series.ts";
import {
  otherContent,
  packRows,
  settleKnown,
  writeBatch,
  type Companion,
  type Row,
  type WriteContext,
} from "./write-rows.ts";

/** A line as received: its value, or why there is none. */
export type IncomingLine =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly error: PinakesError };

export interface Ingestion {
  readonly scope: Scope;
  readonly lines: readonly IncomingLine[];
  readonly options: IngestOptions;
  /** Throws the validation errors of a line. */
  readonly prepare: (value: unknown) => Omit<Row, "line">;
  readonly companion?: Companion | undefined;
  /** Before anything is written: the rows that a limit of the workspace refuses. With `allOrNothing`, one of them means none at all. */
  readonly admit?:
    | ((rows: readonly Row[], allOrNothing: boolean) => Promise<ReadonlyMap<Row, PinakesError>>)
    | undefined;
  /** Before the first write: the days and hours that get rows. */
  readonly announce: (hours: readonly { readonly date: string; readonly hour: number }[]) => Promise<void>;
}

const daysAtOnce = 4;
/** Batches of one day at once, where the engine puts several into one commit or queues them itself. */
const batchesAtOnce = 4;

export class Ingest {
  readonly #items: ItemStore;
  readonly #series: Series;
  readonly #queue = new KeyedQueue();

  constructor(items: ItemStore, series: Series) {
    this.#items = items;
    this.#series = series;
  }

  async run(ingestion: Ingestion): Promise<IngestResult> {
    const { scope, lines, options, companion } = ingestion;
    checkOptions(options);
    checkCount(lines.length);
    const report = new LineReport();
    const context: WriteContext = { items: this.#items, scope, series: this.#series, companion, report };
    let days = byDay(prepareAll(ingestion, report));
    if (options.allOrNothing === true) days = await this.#unlessRefused(context, days, lines);
    days = await this.#admitted(ingestion, days, report);
    const rows = [...days.values()].flat();
    if (rows.length > 0) {
      await ingestion.announce(rows);
      await inParallel([...days], daysAtOnce, ([date, ofDay]) => this.#writeDay(context, date, ofDay));
    }
    // Nothing went in and trying again may cure it: then this is an error of the call, not of its lines.
    if (report.trouble !== undefined && report.accepted === 0) throw report.trouble;
    return report.result(options);
  }

  /** Looks up every id that a client named; empty when any line was refused. */
  async #unlessRefused(
    context: WriteContext,
    days: ReadonlyMap<string, readonly Row[]>,
    lines: readonly IncomingLine[],
  ): Promise<Map<string, readonly Row[]>> {
    const unknown = new Map<string, readonly Row[]>();
    if (context.report.failed === 0) {
      for (const [date, rows] of days) {
        const named = rows.filter((row) => row.named);
        const fresh = new Set((await settleKnown(context, date, named)).unknown);
        unknown.set(
          date,
          rows.filter((row) => !row.named || fresh.has(row)),
        );
      }
    }
    if (context.report.failed === 0) return unknown;
    leaveOutRest(context.report, lines);
    return new Map();
  }

  async #admitted(
    { admit, lines, options }: Ingestion,
    days: Map<string, readonly Row[]>,
    report: LineReport,
  ): Promise<Map<string, readonly Row[]>> {
    const rows = [...days.values()].flat().toSorted((a, b) => a.line - b.line);
    const refused = rows.length === 0 ? undefined : await admit?.(rows, options.allOrNothing === true);
    if (refused === undefined || refused.size === 0) return days;
    for (const [{ line, id }, error] of refused) report.refused(line, error, id);
    if (options.allOrNothing === true) {
      leaveOutRest(report, lines);
      return new Map();
    }
    return byDay(rows.filter((row) => !refused.has(row)));
  }

  async #writeDay(context: WriteContext, date: string, rows: readonly Row[]): Promise<void> {
    const { capabilities } = this.#items;
    const chained = context.companion !== undefined;
    // The order in which they came is the order of a chain; otherwise rows of one hour stand together, for fewer steps of the stamp.
    const batches = packRows(
      chained ? rows : rows.toSorted((a, b) => a.hour - b.hour),
      capabilities.batchOperationsMax,
    );
    // Every batch of a day writes its stamp. On an engine without locks those at once would only force each other to retry.
    const oneByOne = chained || capabilities.indexReads === "eventual";
    const write = async (batch: readonly Row[]): Promise<void> => writeBatch(context, date, batch);
    const key = JSON.stringify([context.scope.tenant, date]);
    const inTurn = (batch: readonly Row[]): Promise<void> => this.#queue.run([key], () => write(batch));
    await (oneByOne ? inParallel(batches, 1, inTurn) : inParallel(batches, batchesAtOnce, write));
  }
}

function prepareAll({ lines, prepare }: Ingestion, report: LineReport): readonly Row[] {
  const known = new Map<string, Row>();
  const rows: Row[] = [];
  for (const incoming of lines) {
    try {
      if ("error" in incoming) throw incoming.error;
      const row: Row = { ...prepare(incoming.value), line: incoming.line };
      const key = JSON.stringify([row.date, row.id]);
      const earlier = known.get(key);
      if (earlier === undefined) {
        known.set(key, row);
        rows.push(row);
      } else if (sameContent(earlier.document, row)) report.duplicate(row.line, row.id);
      else report.refused(row.line, otherContent(row), row.id);
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      report.refused(incoming.line, error);
    }
  }
  return rows;
}

function leaveOutRest(report: LineReport, lines: readonly IncomingLine[]): void {
  for (const { line } of lines) if (!report.has(line)) report.leftOut(line);
}

function byDay(rows: readonly Row[]): Map<string, readonly Row[]> {
  const days = new Map<string, Row[]>();
  for (const row of rows) {
    const day = days.get(row.date);
    if (day === undefined) days.set(row.date, [row]);
    else day.push(row);
  }
  return days;
}

/** Numbered from 1. */
export function numberedLines(values: unknown): readonly IncomingLine[] {
  if (!Array.isArray(values)) throw invalid(`Must be a list of rows, got ${show(values)}.`);
  checkCount(values.length);
  return values.map((value: unknown, i) => ({ line: i + 1, value }));
}

export function checkCount(count: number): void {
  if (count > seriesLimits.ingestLinesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `At most ${seriesLimits.ingestLinesMax} lines fit into one call; nothing was stored. Send several calls.`,
    );
}

function checkOptions({ allOrNothing, report }: IngestOptions): void {
  if (allOrNothing !== undefined && typeof allOrNothing !== "boolean")
    throw invalid(`allOrNothing: must be true or false, got ${show(allOrNothing)}.`);
  if (report !== undefined && report !== "failed" && report !== "all")
    throw invalid(`report: must be "failed" or "all", got ${show(report)}.`);
}
