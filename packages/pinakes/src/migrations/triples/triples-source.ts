/**
 * Migrates tables of triples to spaces of the triple store, one per collection (R-TG-94), and back (R-TG-97). A table with a column that
 * names the collection of each row is one unit per value; it is never changed, since others may use it for other collections.
 */
import { PinakesError, show } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { ContentHash, isSame, type Measured } from "../content-hash.ts";
import type { Entry } from "../differences.ts";
import { EntrySource, strictly } from "../entry-source.ts";
import { migrationLimits } from "../limits.ts";
import { reporting } from "../progress.ts";
import type {
  Copied,
  CopyStep,
  FoundUnit,
  Held,
  MigrationSource,
  OldForm,
  Problem,
  Reading,
  UnitName,
} from "../source.ts";
import { heldQuads, removeQuads, writeQuads } from "../quads.ts";
import { checkPatterns } from "./check-patterns.ts";
import {
  collectionColumn,
  columnsOf,
  moreColumns,
  targetOf,
  unitName,
  type TableColumns,
  type TriplesSpec,
} from "./spec.ts";
import type { LegacyRow, LegacyTables, LockedTable, RowKey, TableInfo, TablePart } from "./tables.ts";
import { TermRules } from "./term-rules.ts";

export class TriplesSource extends EntrySource implements MigrationSource {
  readonly old?: OldForm;
  readonly #spec: TriplesSpec;
  readonly #columns: TableColumns;
  readonly #rules: TermRules;
  readonly #tables: LegacyTables;
  readonly #triples: TripleStore;

  constructor(spec: TriplesSpec, tables: LegacyTables, triples: TripleStore) {
    super();
    this.#spec = spec;
    this.#columns = columnsOf(spec);
    this.#rules = new TermRules(spec);
    this.#tables = tables;
    this.#triples = triples;
    if (tables.change !== undefined)
      this.old = {
        has: (unit) => partOf(unit).only === undefined && !isFull(unit),
        remove: (unit, verified) => this.#remove(unit, verified),
        restore: (unit, held) => this.#restore(unit, held),
      };
  }

  async *units(): AsyncGenerator<FoundUnit> {
    for (const table of await this.#tables.tables()) {
      if (this.#spec.tables?.[table]?.skip === true) continue;
      const info = await this.#tables.info(table);
      const column = collectionColumn(this.#spec, info.columns);
      if (column === undefined) yield await this.#unit({ table }, info);
      else yield* this.#parts(table, column, info);
    }
  }

  override async rows(unit: UnitName): Promise<number> {
    return this.#tables.rowCount(partOf(unit));
  }

  async *entries(unit: UnitName, reading: Reading): AsyncGenerator<Entry> {
    const part = partOf(unit);
    for (const problem of await this.#faults(part.table)) reading.problem(problem);
    for await (const { quad } of this.#quads(unit.name, await this.#rows(part), reading)) yield entryOf(quad);
  }

  async *held(_: UnitName, { scope, destination, signal }: Held): AsyncGenerator<Entry> {
    for await (const quad of heldQuads(this.#triples, scope, destination.incarnation, signal)) yield entryOf(quad);
  }

  async *copy(unit: UnitName, { scope, destination, checkpoint, signal }: CopyStep): AsyncGenerator<Copied> {
    const { after, copied: before } = (checkpoint ?? { copied: 0 }) as { after?: RowKey; copied: number };
    let copied = before;
    let waiting: Quad[] = [];
    let chars = 0;
    let last: RowKey | undefined = after;
    const flush = async (): Promise<Copied> => {
      await writeQuads(this.#triples, scope, destination.incarnation, waiting);
      copied += waiting.length;
      waiting = [];
      chars = 0;
      return { checkpoint: { copied, ...(last === undefined ? {} : { after: last }) }, copied };
    };
    const rows = await this.#rows(partOf(unit), after);
    for await (const { quad, row } of this.#quads(unit.name, rows, strictly(signal))) {
      waiting.push(quad);
      chars += quad.s.length + quad.p.length + quad.o.length;
      last = [row.s, row.p, row.o, ...Object.values(row.more ?? {})] as string[];
      if (waiting.length >= migrationLimits.copyRowsMax || chars >= migrationLimits.copyCharsMax) yield await flush();
    }
    yield await flush();
  }

  /** The eight patterns answer like the table, each from an index (R-TG-95). */
  async check(unit: UnitName, held: Held): Promise<readonly string[]> {
    return checkPatterns(this.#triples, held, () => reporting(this.#allQuads(unit, held.signal), held.progress));
  }

  async clear(_: UnitName, { scope, destination, signal }: Held): Promise<void> {
    await removeQuads(this.#triples, scope, destination.incarnation, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tables[Symbol.asyncDispose]();
  }

  async #unit(part: TablePart, { columns, ddl }: TableInfo): Promise<FoundUnit> {
    const { table, only } = part;
    const name = unitName(table, only?.value);
    const target = targetOf(this.#spec, table, only?.value);
    const unowned = 'has no owner; give "user", "repository", "separator", or name it in "tables".';
    const wrong = this.#wrongColumns(columns);
    const { created_at } = this.#columns;
    const created =
      columns.includes(created_at) && wrong === undefined
        ? timeOf(await this.#tables.oldest(part, created_at))
        : undefined;
    return {
      name,
      target: target ?? { repository: "unknown", collection: only?.value ?? table },
      ...(created === undefined ? {} : { created_at: created }),
      problems: [target === undefined ? unowned : undefined, wrong]
        .filter((reason) => reason !== undefined)
        .map((reason) => ({ where: name, reason })),
      keep:
        only === undefined
          ? {
              ddl: [...ddl],
              dated: columns.includes(created_at),
              ...(moreColumns(this.#spec, columns).length === 0 ? {} : { full: true }),
            }
          : { part: { table, ...only } },
    };
  }

  /** Also the columns that only some tables have. */
  async #rows(part: TablePart, after?: RowKey): Promise<AsyncIterable<LegacyRow>> {
    const { columns } = await this.#tables.info(part.table);
    const more = moreColumns(this.#spec, columns);
    return this.#tables.rows(part, more.length === 0 ? this.#columns : { ...this.#columns, more }, after);
  }

  /** An invalid table is a single unit, reported once. */
  async *#parts(table: string, column: string, info: TableInfo): AsyncGenerator<FoundUnit> {
    const problems = await this.#wrongTable(table, info);
    const readable = problems.length === 0;
    const values = readable ? await this.#tables.values(table, column, migrationLimits.unitsMax + 1) : [];
    if (values.length > migrationLimits.unitsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `${table}: names more than ${migrationLimits.unitsMax} collections; migrate it in parts.`,
      );
    const parts = values.map((value): TablePart => ({ table, only: { column, value } }));
    let rows = 0;
    for (const part of parts) rows += await this.#tables.rowCount(part);
    const all = readable ? await this.#tables.rowCount({ table }) : 0;
    // Values that are not text, or equal without being identical: rows would be lost, or be in two collections.
    if (rows !== all) {
      const reason = `has ${all} rows, but ${rows} by the values of "${column}", which must be strings that differ by their bytes. If others write to it, plan again.`;
      problems.push({ where: table, reason });
    }
    if (problems.length > 0) yield { name: table, target: { repository: "unknown", collection: table }, problems };
    else
      for (const part of parts)
        if (this.#spec.tables?.[unitName(table, part.only?.value)]?.skip !== true) yield await this.#unit(part, info);
  }

  async #wrongTable(table: string, { columns }: TableInfo): Promise<Problem[]> {
    const wrong = this.#wrongColumns(columns);
    const collection = this.#spec.tables?.[table]?.collection;
    const several = `contains several collections; instead of ${show(collection)} for the table, name each as ${show(`${table}/<value>`)}.`;
    return [
      ...[wrong, collection === undefined ? undefined : several]
        .filter((reason) => reason !== undefined)
        .map((reason) => ({ where: table, reason })),
      ...(await this.#faults(table)),
    ];
  }

  #wrongColumns(columns: readonly string[]): string | undefined {
    const { s, p, o, created_at } = this.#columns;
    const missing = [s, p, o].filter((name) => !columns.includes(name));
    if (missing.length > 0)
      return `has no column ${missing.map((name) => `"${name}"`).join(", ")}; it has ${show(columns)}. Give "columns", or leave the table out with "tables".`;
    const known = new Set([
      s,
      p,
      o,
      created_at,
      collectionColumn(this.#spec, columns),
      ...moreColumns(this.#spec, columns).map(({ name }) => name),
      ...(this.#spec.ignore_columns ?? []),
    ]);
    const more = columns.filter((name) => !known.has(name));
    return more.length === 0
      ? undefined
      : `has the columns ${show(more)}, which would be lost; name them in "ignore_columns" to drop them.`;
  }

  async #faults(table: string): Promise<readonly Problem[]> {
    return ((await this.#tables.faults?.(table)) ?? []).map(({ at, reason }) => ({
      where: `${table} row ${at}`,
      reason,
    }));
  }

  async *#quads(
    table: string,
    rows: AsyncIterable<LegacyRow>,
    reading: Reading,
  ): AsyncGenerator<{ quad: Quad; row: LegacyRow }> {
    for await (const row of rows) {
      reading.signal.throwIfAborted();
      try {
        yield { quad: this.#rules.quadOf(row), row };
      } catch (error) {
        if (!PinakesError.isInstance(error)) throw error;
        const label = row.at === undefined ? show([row.s, row.p, row.o]) : `row ${row.at}`;
        reading.problem({ where: `${table} ${label}`, reason: error.detail });
      }
    }
  }

  async *#allQuads(unit: UnitName, signal: AbortSignal): AsyncGenerator<Quad> {
    for await (const { quad } of this.#quads(unit.name, await this.#rows(partOf(unit)), strictly(signal))) yield quad;
  }

  async #remove({ name }: UnitName, verified: Measured): Promise<void> {
    await this.#changed(name, async (table) => {
      if (!table.exists) return;
      const now = await this.#measureTable(table);
      if (!isSame(now, verified))
        throw new PinakesError(
          "CONFLICT",
          `${this.#tables.location}: table ${show(name)} has changed since it was verified (${now.count} triples, ${verified.count} then). Nothing was removed.`,
        );
      await table.drop();
    });
  }

  async #restore({ name, keep }: UnitName, { scope, destination, signal }: Held): Promise<Measured> {
    const wanted = await this.measureHeld({ name }, { scope, destination, signal });
    const { ddl, dated } = keep as unknown as { ddl: readonly string[]; dated: boolean };
    await this.#changed(name, async (table) => {
      if (table.exists && isSame(await this.#measureTable(table), wanted)) return;
      if (table.exists) await table.drop();
      await table.create(ddl);
      await this.#fill(table, { scope, destination, signal }, dated);
      const rebuilt = await this.#measureTable(table);
      if (!isSame(rebuilt, wanted))
        throw new PinakesError(
          "CORRUPT",
          `${this.#tables.location}: table ${show(name)} would have ${rebuilt.count} triples and hash ${rebuilt.hash}; ${wanted.count} and ${wanted.hash} are here. Nothing was changed.`,
        );
    });
    return wanted;
  }

  async #fill(table: LockedTable, { scope, destination, signal }: Held, dated: boolean): Promise<void> {
    const { s, p, o, created_at } = this.#columns;
    const columns = dated ? [s, p, o, created_at] : [s, p, o];
    // The creation time of triples is not stored: they get the current time.
    const now = new Date().toISOString();
    let rows: (readonly string[])[] = [];
    for await (const quad of heldQuads(this.#triples, scope, destination.incarnation, signal)) {
      const row = this.#rules.rowOf(quad);
      rows.push(dated ? [row.s, row.p, row.o, now] : [row.s, row.p, row.o]);
      if (rows.length < migrationLimits.copyRowsMax) continue;
      await table.insert(columns, rows);
      rows = [];
    }
    await table.insert(columns, rows);
  }

  async #measureTable(table: LockedTable): Promise<Measured> {
    const sum = new ContentHash();
    for await (const row of table.rows(this.#columns)) sum.add(entryOf(this.#rules.quadOf(row)).text);
    return sum.measured;
  }

  async #changed(name: string, work: (table: LockedTable) => Promise<void>): Promise<void> {
    await this.#tables.change?.(name, work);
  }
}

/** A table with more than texts of s, p and o is never changed. */
function isFull({ keep }: UnitName): boolean {
  return (keep as { readonly full?: boolean } | null | undefined)?.full === true;
}

/** From the stored `keep`: a name with a "/" may also be a table's name. */
function partOf({ name, keep }: UnitName): TablePart {
  const part = (
    keep as
      | { readonly part?: { readonly table: string; readonly column: string; readonly value: string } }
      | null
      | undefined
  )?.part;
  return part === undefined ? { table: name } : { table: part.table, only: { column: part.column, value: part.value } };
}

function entryOf({ s, p, o, g }: Quad): Entry {
  const text = JSON.stringify([s, p, o, g]);
  return { key: text, text };
}

/** Times as found in tables: ISO 8601, or seconds, milliseconds or microseconds since 1970. */
function timeOf(value: JsonValue | undefined): string | undefined {
  const number =
    typeof value === "number"
      ? value
      : typeof value === "string" && /^\d{9,17}(?:\.\d+)?$/.test(value)
        ? Number(value)
        : undefined;
  const ms =
    number === undefined
      ? typeof value === "string"
        ? Date.parse(value)
        : Number.NaN
      : number > 1e14
        ? number / 1_000
        : number > 1e11
          ? number
          : number * 1_000;
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
}
