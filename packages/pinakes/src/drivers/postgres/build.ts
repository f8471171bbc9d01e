/**
 * Builds indexes in the background while reads and writes continue. The state is in the database: any process that opens the container
 * continues where another stopped, and an advisory lock of the session lets only one of them work.
 *
 * Why a built index is complete: the definition came into force under the container's lock, so every commit since then writes the new
 * column itself. The walk over (pk, id) fills in the older rows; a row that changed since it was read has another etag and is skipped.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { prepareDocument } from "../../items/prepare.ts";
import type { Catalog, IndexState, Loaded } from "./catalog.ts";
import { settle, type Database, type OwnSession } from "./connection.ts";
import { toPinakesError } from "./errors.ts";
import { quote, type Names } from "./names.ts";
import { createIndex } from "./schema.ts";

/** A batch locks its partitions: small, so that writers hardly notice. */
const batchRowsMax = 200;
const batchBytesMax = 1_048_576;
const pauseMsMin = 200;
const pauseMsMax = 15_000;
const cancelMs = 50;

export class IndexBuilder {
  readonly #database: Database;
  readonly #names: Names;
  readonly #catalog: Catalog;
  readonly #closing = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  readonly #wanted = new Set<string>();

  constructor(database: Database, names: Names, catalog: Catalog) {
    this.#database = database;
    this.#names = names;
    this.#catalog = catalog;
  }

  /** Makes sure that missing indexes get built, by this process or another. */
  ensure({ compiled: { name }, states }: Loaded): void {
    if (this.#closing.signal.aborted || [...states.values()].every(({ ready }) => ready)) return;
    this.#wanted.add(name);
    if (!this.#running.has(name)) this.#running.set(name, this.#whileWanted(name));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  /** A build may be requested while the previous one is finishing: the request is recorded, and checked before that one ends. */
  async #whileWanted(name: string): Promise<void> {
    while (this.#wanted.delete(name)) await this.#untilReady(name);
    this.#running.delete(name);
  }

  async #untilReady(name: string): Promise<void> {
    for (let pause = pauseMsMin; !this.#closing.signal.aborted; pause = Math.min(pauseMsMax, pause * 2)) {
      try {
        if (await this.#build(name)) return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        await this.#record(name, error);
      }
      await sleep(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /** True when every index is ready. */
  async #build(name: string): Promise<boolean> {
    await using session = await this.#database.session();
    const [row] = await session.query<[number, boolean]>(
      `SELECT pg_backend_pid(), pg_try_advisory_lock(${this.#names.lock("build", name)})`,
    );
    const [pid, mine] = row as [number, boolean];
    // Awaited here: the session must outlive the work.
    return await this.#cancellable(pid, async () => {
      for (;;) {
        const loaded = (await this.#catalog.load(session, name)).get(name);
        const missing = [...(loaded?.states ?? [])].filter(([, { ready }]) => !ready);
        if (loaded === undefined || missing.length === 0) return true;
        // Another process is building; check again later, for it may die.
        if (!mine || this.#closing.signal.aborted) return false;
        await this.#step(session, loaded, new Map(missing));
      }
    });
  }

  /** One batch of rows, or, if no rows remain, the indexes themselves. */
  async #step(session: OwnSession, loaded: Loaded, missing: ReadonlyMap<string, IndexState>): Promise<void> {
    const declared = [...missing].filter(([index]) => loaded.compiled.indexes.some(({ name }) => name === index));
    const [first] = declared;
    // Indexes at the same row advance together; the others follow afterwards.
    const group = new Map(declared.filter(([, { cursor }]) => String(cursor) === String(first?.[1].cursor)));
    if (first !== undefined && (await fillIn(session, this.#names, loaded, group))) return;
    const finished = new Map([...missing].filter(([index]) => group.has(index) || index.startsWith("~")));
    for (const [index, { column }] of finished) await this.#create(session, loaded, index, column);
  }

  async #create(
    session: OwnSession,
    { compiled: { name }, table }: Loaded,
    index: string,
    column: string,
  ): Promise<void> {
    const own = `${this.#names.schema}.${quote(this.#names.index(name, column))}`;
    const [found] = await session.query<[boolean]>(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [own],
    );
    // PostgreSQL maintains an index left behind by an interrupted build and never uses it: drop it.
    if (found?.[0] === false) await session.run(`DROP INDEX CONCURRENTLY ${own}`);
    if (found?.[0] !== true) await session.run(createIndex(this.#names, name, column, true));
    await session.run(`ANALYZE ${table}`);
    await session.query(
      `UPDATE ${this.#names.indexes} SET ready = true, error = NULL WHERE container = $1 AND name = $2 AND column_name = $3`,
      [name, index, column],
    );
  }

  /**
   * Closing must not wait for what the session waits for: a partition's lock, or every older transaction of the database (as CREATE INDEX
   * CONCURRENTLY does). A cancellation that arrives between two statements is lost, so it is repeated.
   */
  async #cancellable<T>(pid: number, work: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const cancel = async (): Promise<void> => {
      while (!over.signal.aborted) {
        // If the server is gone, so is the session.
        await this.#database.query(`SELECT pg_cancel_backend($1)`, [pid]).catch(() => undefined);
        await sleep(cancelMs, undefined, { signal: over.signal }).catch(() => undefined);
      }
    };
    let cancelling: Promise<void> | undefined;
    const onClose = () => (cancelling = cancel());
    this.#closing.signal.addEventListener("abort", onClose);
    try {
      return await work();
    } finally {
      over.abort();
      this.#closing.signal.removeEventListener("abort", onClose);
      await cancelling;
    }
  }

  /** Shown by queries that are rejected meanwhile. A document that cannot be in the index stops it until the document is changed. */
  async #record(name: string, error: unknown): Promise<void> {
    await this.#database
      .query(`UPDATE ${this.#names.indexes} SET error = $2 WHERE container = $1 AND NOT ready`, [
        name,
        toPinakesError(error).detail,
      ])
      // The database is unreachable; calls will report that themselves.
      .catch(() => undefined);
  }
}

/** Fills in the next rows; false if none remain. */
async function fillIn(
  session: OwnSession,
  names: Names,
  loaded: Loaded,
  group: ReadonlyMap<string, IndexState>,
): Promise<boolean> {
  const { compiled, table } = loaded;
  const [state] = group.values();
  const [pk, id] = state?.cursor ?? ["", ""];
  const total = state?.rowsTotal ?? (await countRows(session, table));
  const rows = await session.query<OldRow>(
    `SELECT pk, id, etag, coalesce(pk_full, pk), doc FROM (
       SELECT r.*, sum(octet_length(doc)) OVER (ORDER BY pk, id) - octet_length(doc) AS before FROM (
         SELECT pk, id, etag, pk_full, doc FROM ${table} WHERE (pk, id) > ($1, $2) ORDER BY pk, id LIMIT ${batchRowsMax}) r) w
     WHERE before < ${batchBytesMax} ORDER BY pk, id`,
    [pk, id],
  );
  const last = rows.at(-1);
  if (last === undefined) return false;
  const columns = [...group].map(([index, { column }]) => ({
    column: quote(column),
    position: compiled.indexes.findIndex(({ name }) => name === index),
  }));
  const keys = rows.map((row) => keysOf(loaded, row));
  const locks = [
    ...new Set(rows.map(([partition]) => BigInt(names.lockKey("partition", compiled.name, partition)))),
  ].sort((a, b) => (a < b ? -1 : 1));
  await session.transact(async (transaction) => {
    const begun = transaction.run(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(${names.lock("container", compiled.name)}); SELECT pg_advisory_xact_lock(k) FROM unnest('{${locks.join(",")}}'::bigint[]) AS k`,
    );
    const asked = transaction.query<[number]>(`SELECT version FROM ${names.containers} WHERE name = $1`, [
      compiled.name,
    ]);
    await settle([begun, asked]);
    const [version] = await asked;
    // Changed meanwhile: the caller reloads it and retries.
    if (version?.[0] !== compiled.version) return;
    const update = transaction.query(
      `UPDATE ${table} t SET ${columns.map(({ column }, i) => `${column} = r.k${i}`).join(", ")}
       FROM unnest($1::text[], $2::text[], $3::text[]${columns.map((_, i) => `, $${i + 4}::bytea[]`).join("")}) AS r (pk, id, etag${columns.map((_, i) => `, k${i}`).join("")})
       WHERE t.pk = r.pk AND t.id = r.id AND t.etag = r.etag`,
      [
        rows.map((row) => row[0]),
        rows.map((row) => row[1]),
        rows.map((row) => row[2]),
        ...columns.map(({ position }) => keys.map((own) => own[position])),
      ],
    );
    const progress = transaction.query(
      `UPDATE ${names.indexes} SET rows_done = rows_done + $3, rows_total = $4, cursor_pk = $5, cursor_id = $6, error = NULL WHERE container = $1 AND name = ANY ($2)`,
      [compiled.name, [...group.keys()], rows.length, total, last[0], last[1]],
    );
    await transaction.commit([update, progress]);
  });
  return true;
}

type OldRow = [pk: string, id: string, etag: string, fullPk: string, doc: string];

function keysOf({ compiled }: Loaded, [, id, , pk, doc]: OldRow): (Buffer | null)[] {
  const [tenant] = JSON.parse(pk) as [string];
  try {
    return prepareDocument(compiled, tenant, pk, JSON.parse(doc) as JsonObject).keys.map((key) =>
      key === null ? null : Buffer.concat([key.partition, key.sort]),
    );
  } catch (error) {
    const { detail } = toPinakesError(error);
    throw new PinakesError(
      "INVALID",
      `item ${JSON.stringify(id)} in partition ${pk} cannot be in the index: ${detail}`,
      { cause: error },
    );
  }
}

/** For the progress only: the planner's estimate if there is one, since counting would read the whole table. */
async function countRows(session: OwnSession, table: string): Promise<number> {
  const [row] = await session.query<[number]>(
    `SELECT CASE WHEN reltuples > 0 THEN reltuples::bigint ELSE (SELECT count(*) FROM ${table}) END FROM pg_class WHERE oid = $1::regclass`,
    [table],
  );
  return row?.[0] ?? 0;
}
