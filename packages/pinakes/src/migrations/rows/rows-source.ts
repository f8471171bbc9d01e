/** Rows of another vector store become rows of a collection that callers embedded themselves. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";
import type { MigrationTarget } from "../../knowledge/index.ts";
import type { Entry } from "../differences.ts";
import { EntrySource, strictly } from "../entry-source.ts";
import { migrationLimits } from "../limits.ts";
import { reporting } from "../progress.ts";
import type { Copied, CopyStep, FoundUnit, Held, MigrationSource, Reading, UnitName } from "../source.ts";
import { checkRow, entryOf, type RowRules } from "./check-row.ts";
import type { CheckedRow, RowReader } from "./row-reader.ts";

const idsPerRemoval = 1_000;

export class RowsSource extends EntrySource implements MigrationSource {
  readonly #reader: RowReader;
  readonly #intake: MigrationTarget;
  readonly #rules: RowRules;

  constructor(reader: RowReader, intake: MigrationTarget, rules: RowRules) {
    super();
    this.#reader = reader;
    this.#intake = intake;
    this.#rules = rules;
  }

  units(signal: AbortSignal): AsyncIterable<FoundUnit> {
    return this.#reader.units(signal);
  }

  async *entries(unit: UnitName, reading: Reading): AsyncGenerator<Entry> {
    for await (const row of this.#rows(unit, reading)) yield entryOf(row);
  }

  async *held(_: UnitName, { scope, destination, signal }: Held): AsyncGenerator<Entry> {
    for await (const { id, vector, text, metadata } of this.#intake.rows(scope, destination)) {
      signal.throwIfAborted();
      yield entryOf({ id, vector, metadata, ...(text === undefined ? {} : { text }) });
    }
  }

  /** Batches are stable: one that was already appended is recognized by its delta id. */
  async *copy(
    unit: UnitName,
    { scope, destination, deltas, checkpoint, signal, progress }: CopyStep,
  ): AsyncGenerator<Copied> {
    const { batches: done } = (checkpoint ?? { batches: 0 }) as { batches: number };
    let batch = 0;
    let copied = 0;
    let waiting: CheckedRow[] = [];
    let chars = 0;
    const flush = async (): Promise<Copied | undefined> => {
      const rows = waiting;
      waiting = [];
      chars = 0;
      batch += 1;
      copied += rows.length;
      if (batch <= done) return undefined;
      await this.#intake.appendRows(
        scope,
        destination,
        { deltaId: `${deltas}.${batch}`, upsert: rows },
        { dims: (rows[0] as CheckedRow).vector.length, signal, beat: () => progress() },
      );
      return { checkpoint: { batches: batch }, copied };
    };
    // Includes rows that are already here.
    for await (const row of reporting(this.#rows(unit, strictly(signal)), progress)) {
      waiting.push(row);
      chars += row.vector.length * 8 + (row.text?.length ?? 0) + JSON.stringify(row.metadata).length;
      if (waiting.length < migrationLimits.copyRowsMax && chars < migrationLimits.copyCharsMax) continue;
      const step = await flush();
      if (step !== undefined) yield step;
    }
    const step = waiting.length === 0 ? undefined : await flush();
    if (step !== undefined) yield step;
  }

  async clear(_: UnitName, { scope, destination, signal }: Held): Promise<void> {
    let ids: string[] = [];
    const all: string[] = [];
    for await (const { id } of this.#intake.rows(scope, destination)) all.push(id);
    while (all.length > 0) {
      signal.throwIfAborted();
      ids = all.splice(0, idsPerRemoval);
      await this.#intake.removeRows(scope, destination, ids);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }

  /** Invalid rows are reported and skipped; so are duplicate ids. */
  async *#rows(unit: UnitName, reading: Reading): AsyncGenerator<CheckedRow> {
    let dims: number | undefined;
    await using seen = await withTemporaryIds();
    for await (const foreign of this.#reader.rows(unit, reading.signal)) {
      reading.signal.throwIfAborted();
      try {
        const row = checkRow(foreign, dims, this.#rules);
        const before = seen.add(row.id, foreign.where);
        if (before !== undefined)
          reading.problem({
            where: foreign.where,
            reason: `duplicate id ${JSON.stringify(row.id)}, first at ${before}; an id names one row.`,
          });
        else {
          dims = row.vector.length;
          yield row;
        }
      } catch (error) {
        if (!PinakesError.isInstance(error)) throw error;
        reading.problem({ where: foreign.where, reason: error.detail });
      }
    }
  }
}

/** The ids seen so far, on disk: files may have more than fit in memory. */
const idsPerTransaction = 10_000;

interface SeenIds extends AsyncDisposable {
  /** Its first location; undefined if it is new. */
  add(id: string, where: string): string | undefined;
}

async function withTemporaryIds(): Promise<SeenIds> {
  const folder = await mkdtemp(join(tmpdir(), "pinakes-ids-"));
  const db = new DatabaseSync(join(folder, "ids.db"));
  db.exec(
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE ids (id TEXT PRIMARY KEY, location TEXT) WITHOUT ROWID; BEGIN",
  );
  const put = db.prepare("INSERT OR IGNORE INTO ids VALUES (?, ?)");
  const find = db.prepare("SELECT location FROM ids WHERE id = ?");
  let ids = 0;
  return {
    add: (id, where) => {
      if (put.run(id, where).changes === 0) return find.get(id)?.["location"] as string;
      if ((ids += 1) % idsPerTransaction === 0) db.exec("COMMIT; BEGIN");
      return undefined;
    },
    [Symbol.asyncDispose]: async () => {
      db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
