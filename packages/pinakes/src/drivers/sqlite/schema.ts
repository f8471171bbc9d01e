/**
 * The layout of the SQLite file (RFC 0002), based on measurements: a rowid table per container with UNIQUE(pk, id), index keys as real
 * columns before the document, 8 KB pages, WAL, synchronous FULL.
 *
 * Columns of indexes that are added later are after the document (SQLite can only append): reading one walks all pages of a large document.
 * Queries read only their b-tree, and the writer sets them without reading (`late`).
 *
 * Columns of dropped or redefined indexes stay unused: SQLite would rewrite the whole table to remove them. Their names contain the version
 * that created them, so that a name never returns with old values.
 */
import type { ContainerTtl } from "../../domain/ttl.ts";
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { PinakesError, show } from "../../domain/errors.ts";
import {
  compileContainer,
  mergeDefinitions,
  type CompiledContainer,
  type NormalDefinition,
} from "../../items/compiled-container.ts";
import type { OpenContainerOptions } from "../../ports/item-store.ts";

/** How an index is stored, and how far its build has come. */
export interface StoredIndex {
  readonly column: string;
  /** The column was added to an existing table: it is after the document. */
  readonly late: boolean;
  readonly definition: string;
  readonly state: "ready" | "building";
  /** Building: rows up to this rowid have their key; the build ends at `buildTo`. */
  readonly builtTo: number;
  readonly buildTo: number;
  /** Why the build makes no progress. */
  readonly error?: string;
}

export interface SqliteContainer {
  readonly compiled: CompiledContainer;
  readonly indexes: Readonly<Record<string, StoredIndex>>;
}

/** Application id of every file that this driver writes. */
export const format = "1";

/** Of the beginning of the file; the rest is read as usual. */
const mappedBytesMax = 1_073_741_824;

export function openDatabase(file: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: 10_000 });
  if (!options.readOnly) {
    db.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  }
  db.exec("PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;");
  // Reads use the mapped file: a large document is copied once less.
  if (options.readOnly) db.exec(`PRAGMA mmap_size = ${mappedBytesMax}`);
  return db;
}

export function createMeta(db: DatabaseSync): void {
  // Writes nothing if everything exists: opening must not wait for another process's write.
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'containers'").get() !== undefined && hasSigningKey(db))
    return requireFormat(db, "items");
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS containers (
      name TEXT PRIMARY KEY,
      definition TEXT NOT NULL,
      version INTEGER NOT NULL,
      indexes TEXT NOT NULL,
      feed_seq INTEGER NOT NULL DEFAULT 0,
      feed_trimmed INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    COMMIT;`);
  db.prepare("INSERT OR IGNORE INTO meta VALUES ('format', ?), ('signing_key', ?)").run(format, randomBytes(32));
}

/** Files of another version are left alone: misreading them would be worse than not reading them. */
export function requireFormat(db: DatabaseSync, what: string): void {
  const found = db.prepare("SELECT CAST(value AS TEXT) AS format FROM meta WHERE name = 'format'").get()?.["format"];
  if (found === format) return;
  throw new PinakesError(
    "NOT_SUPPORTED",
    `This file of ${what} has format ${show(found)}; this version of Pinakes reads format ${format}. Update Pinakes.`,
  );
}

function hasSigningKey(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM meta WHERE name = 'signing_key'").get() !== undefined;
}

export function readSigningKey(db: DatabaseSync): Uint8Array {
  return (db.prepare("SELECT value FROM meta WHERE name = 'signing_key'").get() as { value: Uint8Array }).value;
}

export function loadContainer(db: DatabaseSync, name: string): SqliteContainer | undefined {
  const row = db.prepare("SELECT definition, version, indexes FROM containers WHERE name = ?").get(name);
  if (row === undefined) return undefined;
  return {
    compiled: compileContainer(JSON.parse(row["definition"] as string) as NormalDefinition, row["version"] as number),
    indexes: JSON.parse(row["indexes"] as string) as SqliteContainer["indexes"],
  };
}

/** The container with the time to live that applies to a call: a tenant may have its own. */
export function withTtl(container: SqliteContainer, ttl: ContainerTtl): SqliteContainer {
  const { compiled } = container;
  return compiled.ttl === ttl ? container : { ...container, compiled: { ...compiled, ttl } };
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const tableName = (container: string): string => quoted(`c_${container}`);
export const feedName = (container: string): string => quoted(`f_${container}`);
const keyColumn = (index: string, version: number): string => `k_${index}_${version}`;
export const uniqueColumn = (key: string): string => quoted(`u_${key}`);

/** Creates the container or updates its stored definition to `next`, in one transaction of the caller. */
export function putContainer(db: DatabaseSync, next: NormalDefinition, options: OpenContainerOptions): SqliteContainer {
  const stored = loadContainer(db, next.name);
  if (stored === undefined) createTable(db, next);
  const merged =
    stored === undefined
      ? next
      : mergeDefinitions(stored.compiled.definition, next, options.dropUndeclaredIndexes ?? false);
  if (stored !== undefined && JSON.stringify(stored.compiled.definition) === JSON.stringify(merged)) return stored;
  const version = (stored?.compiled.version ?? 0) + 1;
  const indexes = changeIndexes(db, merged, stored?.indexes ?? {}, version);
  changeHousekeeping(db, merged);
  db.prepare(
    "INSERT INTO containers (name, definition, version, indexes) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, version = excluded.version, indexes = excluded.indexes",
  ).run(next.name, JSON.stringify(merged), version, JSON.stringify(indexes));
  return { compiled: compileContainer(merged, version), indexes };
}

function createTable(db: DatabaseSync, definition: NormalDefinition): void {
  const table = tableName(definition.name);
  const uniques = Object.keys(definition.uniqueKeys);
  const indexes = Object.keys(definition.indexes).map((index) => quoted(keyColumn(index, 1)));
  db.exec(`CREATE TABLE ${table} (
    row INTEGER PRIMARY KEY,
    pk TEXT NOT NULL,
    id TEXT NOT NULL,
    etag TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    ttl INTEGER,
    own_expiry INTEGER,
    ${[...uniques.map((key) => `${uniqueColumn(key)} TEXT,`), ...indexes.map((column) => `${column} BLOB,`)].join(" ")}
    doc TEXT NOT NULL,
    UNIQUE (pk, id))`);
  // Not UNIQUE indexes: the single writer checks, and a batch may swap values.
  for (const key of uniques) {
    db.exec(
      `CREATE INDEX ${quoted(`c_${definition.name}.u_${key}`)} ON ${table} (pk, ${uniqueColumn(key)}) WHERE ${uniqueColumn(key)} IS NOT NULL`,
    );
  }
}

function changeIndexes(
  db: DatabaseSync,
  definition: NormalDefinition,
  stored: Readonly<Record<string, StoredIndex>>,
  version: number,
): Record<string, StoredIndex> {
  const table = tableName(definition.name);
  const last = (db.prepare(`SELECT coalesce(max(row), 0) AS row FROM ${table}`).get() as { row: number }).row;
  const result: Record<string, StoredIndex> = {};
  for (const [name, { column, definition: old }] of Object.entries(stored)) {
    if (JSON.stringify(definition.indexes[name]) !== old)
      db.exec(`DROP INDEX IF EXISTS ${quoted(`c_${definition.name}.${column}`)}`);
  }
  for (const [name, index] of Object.entries(definition.indexes)) {
    const text = JSON.stringify(index);
    const kept = stored[name];
    if (kept?.definition === text) {
      result[name] = kept;
      continue;
    }
    const column = keyColumn(name, version);
    // The first version's columns were created with the table.
    const late = version > 1;
    if (late) db.exec(`ALTER TABLE ${table} ADD COLUMN ${quoted(column)} BLOB`);
    db.exec(
      `CREATE INDEX ${quoted(`c_${definition.name}.${column}`)} ON ${table} (${quoted(column)}) WHERE ${quoted(column)} IS NOT NULL`,
    );
    result[name] = {
      column,
      late,
      definition: text,
      state: last === 0 ? "ready" : "building",
      builtTo: 0,
      buildTo: last,
    };
  }
  return result;
}

/** Tables for time to live and the feed. Indexes for expiry exist only if something can expire. */
function changeHousekeeping(db: DatabaseSync, definition: NormalDefinition): void {
  const table = tableName(definition.name);
  const byDefault = quoted(`c_${definition.name}.by_default_expiry`);
  const byOwn = quoted(`c_${definition.name}.by_own_expiry`);
  if (definition.ttl === null) db.exec(`DROP INDEX IF EXISTS ${byDefault}; DROP INDEX IF EXISTS ${byOwn}`);
  else {
    db.exec(`CREATE INDEX IF NOT EXISTS ${byDefault} ON ${table} (modified_at) WHERE ttl IS NULL`);
    db.exec(`CREATE INDEX IF NOT EXISTS ${byOwn} ON ${table} (own_expiry) WHERE own_expiry IS NOT NULL`);
  }
  if (!definition.feed) return;
  db.exec(`CREATE TABLE IF NOT EXISTS ${feedName(definition.name)} (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    pk TEXT NOT NULL,
    id_key TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    etag TEXT NOT NULL,
    at INTEGER NOT NULL,
    expired INTEGER NOT NULL)`);
  db.exec(
    `CREATE INDEX IF NOT EXISTS ${quoted(`f_${definition.name}.by_tenant`)} ON ${feedName(definition.name)} (tenant, seq)`,
  );
}

/** True for rows that are visible at the bound `:now` (domain/ttl.ts in SQL). */
export function visibleSql(ttl: number | null): string {
  if (ttl === null) return "1";
  if (ttl === -1) return "(own_expiry IS NULL OR own_expiry > :now)";
  return `(CASE WHEN ttl IS NULL THEN modified_at + ${ttl * 1000} > :now WHEN ttl = -1 THEN 1 ELSE own_expiry > :now END)`;
}
