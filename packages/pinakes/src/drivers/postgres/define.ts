/**
 * Opening a container: creates it, or changes it online. A change is made under the container's lock, which every commit shares: once it is
 * made, no writer with the old definition is running, and every later one notices the new version before it writes.
 */
import { compileContainer, mergeDefinitions, type NormalDefinition } from "../../items/compiled-container.ts";
import type { OpenContainerOptions } from "../../ports/item-store.ts";
import type { Catalog, Loaded } from "./catalog.ts";
import type { Database, Session, Transaction } from "./connection.ts";
import { lockNotGranted } from "./errors.ts";
import { indexColumn, quote, type Names } from "./names.ts";
import { createFeed, createIndex, createTable, supportsLz4, ttlColumns } from "./schema.ts";

/** Readers and writers queue behind a lock request, so the wait is short, and repeated after a pause. */
const lockMsMax = 250;
const attemptsMax = 120;
/** A transaction older than this is no commit of ours. */
const longMs = 1_000;

export async function defineContainer(
  database: Database,
  names: Names,
  catalog: Catalog,
  definition: NormalDefinition,
  options: OpenContainerOptions,
): Promise<Loaded> {
  const { name } = definition;
  const known = (await catalog.load(database, name)).get(name);
  if (known !== undefined && merge(known, definition, options) === undefined) return known;
  const work = async (transaction: Transaction): Promise<void> => {
    if (known !== undefined && altersTable(known, merge(known, definition, options)))
      await clearTheWay(transaction, names, name);
    await transaction.run(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockMsMax}; SELECT pg_advisory_xact_lock(${names.lock("container", name)})`,
    );
    const stored = (await catalog.load(transaction, name)).get(name);
    const merged = stored === undefined ? definition : merge(stored, definition, options);
    if (merged === undefined) return;
    if (stored === undefined) await create(transaction, names, definition);
    else await change(transaction, names, stored, merged);
    await transaction.commit();
  };
  await database.transact(work, { attemptsMax, retryLockTimeout: true, idempotent: true });
  return (await catalog.load(database, name)).get(name) as Loaded;
}

/** The new definition, or undefined if nothing changes. */
function merge(
  { compiled }: Loaded,
  next: NormalDefinition,
  options: OpenContainerOptions,
): NormalDefinition | undefined {
  const merged = mergeDefinitions(compiled.definition, next, options.dropUndeclaredIndexes ?? false);
  return same(merged, compiled.definition) ? undefined : merged;
}

function altersTable({ compiled }: Loaded, next: NormalDefinition | undefined): boolean {
  return next !== undefined && !same(compiled.definition.indexes, next.indexes);
}

/**
 * A change of the table waits for all its users, and all others wait behind it. So it does not start while a long transaction uses the
 * table: the builder of another index is cancelled, since it resumes automatically; anything else is waited for without holding a lock.
 * Commits are short and not waited for.
 */
async function clearTheWay(session: Session, names: Names, container: string): Promise<void> {
  const inTheWay = await session.query<[pid: number, mode: string, application: string | null, builder: boolean]>(
    `SELECT l.pid, l.mode, a.application_name, EXISTS (
       SELECT 1 FROM pg_locks b WHERE b.pid = l.pid AND b.locktype = 'advisory' AND b.objsubid = 1 AND b.granted
         AND (b.classid::bigint << 32) | b.objid::bigint = ${names.lock("build", container)})
     FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.relation = to_regclass($1)
       AND l.granted AND l.pid <> pg_backend_pid()
       AND (l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') OR a.xact_start < clock_timestamp() - interval '${longMs} ms')`,
    [names.table(container)],
  );
  const [first] = inTheWay;
  if (first === undefined) return;
  const builder = inTheWay.find((other) => other[3]);
  // Without the right to do so it is waited for like any other.
  if (builder !== undefined) await session.query(`SELECT pg_cancel_backend($1)`, [builder[0]]).catch(() => undefined);
  const [pid, mode, application] = first;
  throw lockNotGranted(`process ${pid} (${application ?? "unknown"}) holds ${mode} on ${names.table(container)}`);
}

async function create(transaction: Transaction, names: Names, definition: NormalDefinition): Promise<void> {
  const { name, feed, ttl } = definition;
  const compiled = compileContainer(definition, 1);
  await transaction.run(createTable(names, compiled, await supportsLz4(transaction)));
  if (feed) await transaction.run(createFeed(names, name));
  await transaction.query(
    `INSERT INTO ${names.containers} (name, definition, version, feed_epoch) VALUES ($1, $2, 1, coalesce((SELECT max(feed_epoch) FROM ${names.containers}), 1))`,
    [name, JSON.stringify(definition)],
  );
  await addColumns(
    transaction,
    names,
    name,
    compiled.indexes.map((index) => [index.name, indexColumn(index.name, 1)]),
  );
  await addIndexes(transaction, names, name, [
    ...compiled.indexes.map((index): NewIndex => [index.name, indexColumn(index.name, 1)]),
    ...(ttl === null ? [] : ttlIndexes),
  ]);
}

async function change(
  transaction: Transaction,
  names: Names,
  { compiled, table, states }: Loaded,
  next: NormalDefinition,
): Promise<void> {
  const { name, definition } = compiled;
  const version = compiled.version + 1;
  const removed = Object.keys(definition.indexes).filter(
    (index) => !same(definition.indexes[index], next.indexes[index]),
  );
  const added = Object.keys(next.indexes).filter((index) => !same(definition.indexes[index], next.indexes[index]));
  for (const index of removed)
    await transaction.run(`ALTER TABLE ${table} DROP COLUMN ${quote(states.get(index)?.column as string)}`);
  await transaction.query(`DELETE FROM ${names.indexes} WHERE container = $1 AND name = ANY ($2)`, [name, removed]);
  const columns = added.map((index): NewIndex => [index, indexColumn(index, version)]);
  await addColumns(transaction, names, name, columns);
  await addIndexes(transaction, names, name, [
    ...columns,
    ...(next.ttl === null || states.has(ttlColumns.own) ? [] : ttlIndexes),
  ]);
  if (!definition.feed && next.feed) await transaction.run(createFeed(names, name));
  await transaction.query(`UPDATE ${names.containers} SET definition = $2, version = $3 WHERE name = $1`, [
    name,
    JSON.stringify(next),
    version,
  ]);
}

/** An index by name, and the column with its keys. */
type NewIndex = readonly [name: string, column: string];
const ttlIndexes: readonly NewIndex[] = [
  [ttlColumns.default, ttlColumns.default],
  [ttlColumns.own, ttlColumns.own],
];

/** Without a default, so that PostgreSQL rewrites no row. */
async function addColumns(
  transaction: Transaction,
  names: Names,
  container: string,
  columns: readonly NewIndex[],
): Promise<void> {
  if (columns.length === 0) return;
  await transaction.run(
    `ALTER TABLE ${names.table(container)} ${columns.map(([, column]) => `ADD COLUMN ${quote(column)} bytea`).join(", ")}`,
  );
}

/** Immediately if there are no rows; else they are declared, and built in the background. */
async function addIndexes(
  transaction: Transaction,
  names: Names,
  container: string,
  added: readonly NewIndex[],
): Promise<void> {
  if (added.length === 0) return;
  const [row] = await transaction.query<[boolean]>(`SELECT EXISTS (SELECT 1 FROM ${names.table(container)})`);
  const empty = row?.[0] === false;
  if (empty) await transaction.run(added.map(([, column]) => createIndex(names, container, column)).join("; "));
  await transaction.query(
    `INSERT INTO ${names.indexes} (container, name, column_name, ready) SELECT $1, i.name, i.column_name, $2 FROM unnest($3::text[], $4::text[]) AS i (name, column_name)`,
    [container, empty, added.map(([name]) => name), added.map(([, column]) => column)],
  );
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
