/** One table a collection becomes one space of the triple store a collection (R-TG-94), and back (R-TG-97). */
import { PinakesError, show } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { ContentHash, isSame, type Measured } from "../content-hash.ts";
import type { Differences, Entry } from "../differences.ts";
import { differingEntries, measureEntries, measureHeldEntries, strictly, type EntrySides } from "../entry-source.ts";
import { migrationLimits } from "../limits.ts";
import { told } from "../progress.ts";
import type { Copied, CopyStep, FoundUnit, Held, Inventory, MigrationSource, OldForm, Problem, Reading, UnitName } from "../source.ts";
import { heldQuads, removeQuads, writeQuads } from "../quads.ts";
import { checkPatterns } from "./check-patterns.ts";
import { columnsOf, targetOf, type TableColumns, type TriplesSpec } from "./spec.ts";
import type { LegacyRow, LegacyTables, LockedTable, RowKey } from "./tables.ts";
import { TermRules } from "./term-rules.ts";

export class TriplesSource implements MigrationSource, EntrySides {
  readonly old?: OldForm;
  readonly #spec: TriplesSpec;
  readonly #columns: TableColumns;
  readonly #rules: TermRules;
  readonly #tables: LegacyTables;
  readonly #triples: TripleStore;

  constructor(spec: TriplesSpec, tables: LegacyTables, triples: TripleStore) {
    this.#spec = spec;
    this.#columns = columnsOf(spec);
    this.#rules = new TermRules(spec);
    this.#tables = tables;
    this.#triples = triples;
    if (tables.change !== undefined)
      this.old = { remove: (unit, verified) => this.#remove(unit, verified), restore: (unit, held) => this.#restore(unit, held) };
  }

  async *units(): AsyncGenerator<FoundUnit> {
    for (const table of await this.#tables.tables()) {
      if (this.#spec.tables?.[table]?.skip === true) continue;
      yield await this.#unit(table);
    }
  }

  async measure(unit: UnitName, reading: Reading): Promise<Inventory> {
    return measureEntries(this, unit, reading);
  }

  async measureHeld(unit: UnitName, held: Held): Promise<Measured> {
    return measureHeldEntries(this, unit, held);
  }

  async differences(unit: UnitName, held: Held): Promise<Differences> {
    return differingEntries(this, unit, held);
  }

  async rows({ name }: UnitName): Promise<number> {
    return this.#tables.rowCount(name);
  }

  async *entries({ name }: UnitName, reading: Reading): AsyncGenerator<Entry> {
    for (const { at, reason } of (await this.#tables.faults?.(name)) ?? []) reading.problem({ where: `${name} row ${at}`, reason });
    for await (const { quad } of this.#quads(name, this.#tables.rows(name, this.#columns), reading)) yield entryOf(quad);
  }

  async *held(_: UnitName, { scope, place, signal }: Held): AsyncGenerator<Entry> {
    for await (const quad of heldQuads(this.#triples, scope, place.incarnation, signal)) yield entryOf(quad);
  }

  async *copy({ name }: UnitName, { scope, place, checkpoint, signal }: CopyStep): AsyncGenerator<Copied> {
    const { after, copied: before } = (checkpoint ?? { copied: 0 }) as { after?: RowKey; copied: number };
    let copied = before;
    let waiting: Quad[] = [];
    let chars = 0;
    let last: RowKey | undefined = after;
    const flush = async (): Promise<Copied> => {
      await writeQuads(this.#triples, scope, place.incarnation, waiting);
      copied += waiting.length;
      waiting = [];
      chars = 0;
      return { checkpoint: { copied, ...(last === undefined ? {} : { after: last }) }, copied };
    };
    const rows = this.#tables.rows(name, this.#columns, after);
    for await (const { quad, row } of this.#quads(name, rows, strictly(signal))) {
      waiting.push(quad);
      chars += quad.s.length + quad.p.length + quad.o.length;
      last = [row.s as string, row.p as string, row.o as string];
      if (waiting.length >= migrationLimits.copyRowsMax || chars >= migrationLimits.copyCharsMax) yield await flush();
    }
    yield await flush();
  }

  /** The eight patterns answer as the table does, each from an index (R-TG-95). */
  async check(unit: UnitName, held: Held): Promise<readonly string[]> {
    return checkPatterns(this.#triples, held, () => told(this.#allQuads(unit, held.signal), held.progress));
  }

  async clear(_: UnitName, { scope, place, signal }: Held): Promise<void> {
    await removeQuads(this.#triples, scope, place.incarnation, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tables[Symbol.asyncDispose]();
  }

  async #unit(table: string): Promise<FoundUnit> {
    const problems: Problem[] = [];
    const wrong = (reason: string) => problems.push({ where: table, reason });
    const target = targetOf(this.#spec, table);
    if (target === undefined) wrong('nothing says whose it is; give "user", "repository", "separator", or name it in "tables".');
    const { columns, ddl } = await this.#tables.info(table);
    const { s, p, o, created_at } = this.#columns;
    const missing = [s, p, o].filter((name) => !columns.includes(name));
    const known = new Set([s, p, o, created_at, ...(this.#spec.ignore_columns ?? [])]);
    const more = columns.filter((name) => !known.has(name));
    if (missing.length > 0)
      wrong(`has no column ${missing.map((name) => `"${name}"`).join(", ")}; it has ${show(columns)}. Give "columns", or leave the table out with "tables".`);
    else if (more.length > 0) wrong(`has the columns ${show(more)}, which would be lost; name them in "ignore_columns" if they may be.`);
    const created = columns.includes(created_at) && missing.length === 0 ? timeOf(await this.#tables.oldest(table, created_at)) : undefined;
    return {
      name: table,
      target: target ?? { repository: "unknown", collection: table },
      ...(created === undefined ? {} : { created_at: created }),
      problems,
      keep: { ddl: [...ddl], dated: columns.includes(created_at) },
    };
  }

  async *#quads(table: string, rows: AsyncIterable<LegacyRow>, reading: Reading): AsyncGenerator<{ quad: Quad; row: LegacyRow }> {
    for await (const row of rows) {
      reading.signal.throwIfAborted();
      try {
        yield { quad: this.#rules.quadOf(row), row };
      } catch (error) {
        if (!PinakesError.isInstance(error)) throw error;
        const place = row.at === undefined ? show([row.s, row.p, row.o]) : `row ${row.at}`;
        reading.problem({ where: `${table} ${place}`, reason: error.detail });
      }
    }
  }

  async *#allQuads({ name }: UnitName, signal: AbortSignal): AsyncGenerator<Quad> {
    for await (const { quad } of this.#quads(name, this.#tables.rows(name, this.#columns), strictly(signal))) yield quad;
  }

  async #remove({ name }: UnitName, verified: Measured): Promise<void> {
    await this.#changed(name, async (table) => {
      if (!table.exists) return;
      const now = await this.#measureTable(table);
      if (!isSame(now, verified))
        throw new PinakesError(
          "CONFLICT",
          `${this.#tables.place}: table ${show(name)} has changed since it was verified (${now.count} triples, ${verified.count} then). Nothing was removed.`,
        );
      await table.drop();
    });
  }

  async #restore({ name, keep }: UnitName, { scope, place, signal }: Held): Promise<Measured> {
    const wanted = await measureHeldEntries(this, { name }, { scope, place, signal });
    const { ddl, dated } = keep as unknown as { ddl: readonly string[]; dated: boolean };
    await this.#changed(name, async (table) => {
      if (table.exists && isSame(await this.#measureTable(table), wanted)) return;
      if (table.exists) await table.drop();
      await table.create(ddl);
      await this.#fill(table, { scope, place, signal }, dated);
      const made = await this.#measureTable(table);
      if (!isSame(made, wanted))
        throw new PinakesError(
          "CORRUPT",
          `${this.#tables.place}: table ${show(name)} would have ${made.count} triples and hash ${made.hash}; ${wanted.count} and ${wanted.hash} are here. Nothing was changed.`,
        );
    });
    return wanted;
  }

  async #fill(table: LockedTable, { scope, place, signal }: Held, dated: boolean): Promise<void> {
    const { s, p, o, created_at } = this.#columns;
    const columns = dated ? [s, p, o, created_at] : [s, p, o];
    // When each triple was made is not kept here: they are as old as the table is new.
    const now = new Date().toISOString();
    let rows: (readonly string[])[] = [];
    for await (const quad of heldQuads(this.#triples, scope, place.incarnation, signal)) {
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

function entryOf({ s, p, o, g }: Quad): Entry {
  const text = JSON.stringify([s, p, o, g]);
  return { key: text, text };
}

/** A time as tables have it: ISO 8601, or seconds, milliseconds or microseconds since 1970. */
function timeOf(value: JsonValue | undefined): string | undefined {
  const number = typeof value === "number" ? value : typeof value === "string" && /^\d{9,17}(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
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
