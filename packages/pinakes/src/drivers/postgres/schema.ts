/**
 * The tables. One PostgreSQL schema holds one of our databases: three tables that describe it, and per container one table of items and, if
 * it has a feed, one of changes. Documents are text, because jsonb would reorder their keys.
 */
import { randomBytes } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { CompiledContainer } from "../../items/compiled-container.ts";
import type { Database, Session, Transaction } from "./connection.ts";
import { sqlState, standbyAnswered } from "./errors.ts";
import { quote, uniqueColumn, type Names } from "./names.ts";

const format = "1";
/** xid8, which the feed relies on, came with 13. */
const serverVersionMin = 130_000;

/** Creates what is absent, and returns the signing key. Safe when many processes start at once; idempotent. */
export async function prepareSchema(database: Database, names: Names): Promise<Uint8Array> {
  await requireServer(database);
  const work = async (transaction: Transaction): Promise<Uint8Array> => {
    await transaction.run(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${names.lock("schema")})`,
    );
    await createMeta(transaction, names);
    const stored = new Map(await transaction.query<[string, string]>(`SELECT name, value FROM ${names.meta}`));
    if (stored.get("format") !== format) {
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The database ${names.schema} has format ${stored.get("format") ?? "unknown"}; this version of Pinakes reads format ${format}. Update Pinakes.`,
      );
    }
    await transaction.commit();
    return Buffer.from(stored.get("signing_key") as string, "base64");
  };
  const key = await database.transact(work, { idempotent: true });
  const guard = new ClusterGuard(names);
  await database.transact((transaction) => guard.check(transaction), { idempotent: true });
  database.onConnect((connection) => guard.check(connection));
  return key;
}

/**
 * Checks every connection before it is used: a process may outlive its server, and find another in its place after a failover or a restore.
 * Nothing is then written with the old epoch, because every connection is checked before it writes.
 */
class ClusterGuard {
  readonly #names: Names;
  #known: string | undefined;

  constructor(names: Names) {
    this.#names = names;
  }

  async check(connection: Transaction): Promise<void> {
    const cluster = await clusterIdentity(connection);
    if (cluster === undefined || cluster === this.#known) return;
    await connection.run(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${this.#names.lock("schema")})`,
    );
    const [stored] = await connection.query<[string]>(`SELECT value FROM ${this.#names.meta} WHERE name = 'cluster'`);
    if (stored?.[0] !== cluster) await beginEpoch(connection, this.#names, cluster);
    await connection.commit();
    this.#known = cluster;
  }
}

async function requireServer(session: Session): Promise<void> {
  const [settings] = await session.query<[number, string]>(
    `SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`,
  );
  const [version, encoding] = settings as [number, string];
  if (version < serverVersionMin)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `PostgreSQL ${Math.floor(version / 10_000)} is too old; 13 or newer is needed.`,
    );
  if (encoding !== "UTF8")
    throw new PinakesError(
      "NOT_SUPPORTED",
      `The PostgreSQL database has the encoding ${encoding}; create it with ENCODING 'UTF8'.`,
    );
}

/** Looked up first: IF NOT EXISTS requires the right to create even if there is nothing to do, and an admin may have created it. */
async function createMeta(transaction: Transaction, names: Names): Promise<void> {
  const [found] = await transaction.query<[boolean, boolean]>(
    `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL`,
    [names.schema, names.meta],
  );
  const [schema, meta] = found as [boolean, boolean];
  if (meta) return;
  if (!schema) await transaction.run(`CREATE SCHEMA ${names.schema}`);
  await transaction.run(`
    CREATE TABLE ${names.meta} (name text PRIMARY KEY, value text NOT NULL);
    CREATE TABLE ${names.containers} (
      name text COLLATE "C" PRIMARY KEY, definition text NOT NULL, version int NOT NULL,
      feed_epoch int NOT NULL DEFAULT 1, trimmed_epoch int NOT NULL DEFAULT 0, trimmed_xid xid8 NOT NULL DEFAULT '0', trimmed_n int NOT NULL DEFAULT 0
    );
    CREATE TABLE ${names.indexes} (
      container text COLLATE "C", name text COLLATE "C", column_name text NOT NULL, ready boolean NOT NULL,
      rows_done bigint NOT NULL DEFAULT 0, rows_total bigint, cursor_pk text COLLATE "C", cursor_id text COLLATE "C", error text,
      PRIMARY KEY (container, name)
    )`);
  await transaction.query(`INSERT INTO ${names.meta} (name, value) VALUES ('format', $1), ('signing_key', $2)`, [
    format,
    randomBytes(32).toString("base64"),
  ]);
}

/** Identifies the cluster and its timeline: transaction numbers are comparable within one only. Undefined without the right to read it. */
async function clusterIdentity(session: Transaction): Promise<string | undefined> {
  try {
    const [row] = await session.query<[string | null]>(
      `SELECT CASE WHEN NOT pg_is_in_recovery() THEN system_identifier::text || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()`,
    );
    const identity = row?.[0];
    if (identity === null) throw standbyAnswered();
    return identity;
  } catch (error) {
    const code = sqlState(error);
    // No right to read it, or an engine that only speaks PostgreSQL's protocol.
    if (code !== undefined && (code.startsWith("42") || code === "0A000")) return undefined;
    throw error;
  }
}

/**
 * The data came from another cluster, or this one was restored to an earlier time: its transaction numbers start over, perhaps below those
 * of the feed. A new epoch orders later changes after the existing ones. Writers are blocked meanwhile, so that none uses the old one late.
 */
async function beginEpoch(transaction: Transaction, names: Names, cluster: string): Promise<void> {
  const containers = await transaction.query<[string]>(`SELECT name FROM ${names.containers} ORDER BY name`);
  for (const [name] of containers)
    await transaction.run(`SELECT pg_advisory_xact_lock(${names.lock("container", name)})`);
  await transaction.query(
    `UPDATE ${names.containers} SET feed_epoch = feed_epoch + 1 WHERE EXISTS (SELECT 1 FROM ${names.meta} WHERE name = 'cluster')`,
  );
  await transaction.query(
    `INSERT INTO ${names.meta} (name, value) VALUES ('cluster', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [cluster],
  );
}

/** A container's table, with indexes: for an empty one, where building them takes no time. */
export function createTable(names: Names, { name, uniqueKeys }: CompiledContainer, lz4: boolean): string {
  const table = names.table(name);
  const uniques = uniqueKeys.map((key) => quote(uniqueColumn(key.name)));
  return [
    `CREATE TABLE ${table} (
      pk text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, pk_full text COLLATE "C", etag text NOT NULL, modified_at bigint NOT NULL,
      ttl int, own_expiry bigint, ${uniques.map((column) => `${column} text COLLATE "C", `).join("")}
      doc text${lz4 ? " COMPRESSION lz4" : ""} NOT NULL, PRIMARY KEY (pk, id))`,
    ...uniqueKeys.map(
      (key, i) =>
        `CREATE INDEX ${quote(names.index(name, uniqueColumn(key.name)))} ON ${table} (pk, ${uniques[i]}) WHERE ${uniques[i]} IS NOT NULL`,
    ),
  ].join("; ");
}

/** The feed is read in the order (epoch, xid, n), for one tenant; it is trimmed in the same order over all. See feed.ts for why. */
export function createFeed(names: Names, container: string): string {
  const table = names.feed(container);
  return `
    CREATE TABLE ${table} (
      epoch int NOT NULL, xid xid8 NOT NULL, n int NOT NULL, tenant text COLLATE "C" NOT NULL, pk text NOT NULL, id_key text NOT NULL, id text NOT NULL,
      kind text NOT NULL, etag text NOT NULL, at bigint NOT NULL, expired boolean NOT NULL, PRIMARY KEY (epoch, xid, n));
    CREATE INDEX ${quote(names.index(container, "feed"))} ON ${table} (tenant, epoch, xid, n)`;
}

/** The definition of the index `column`. Two serve the time to live and belong to no declared index. */
export function indexTarget(column: string): string {
  if (column === ttlColumns.default) return `(modified_at) WHERE ttl IS NULL`;
  if (column === ttlColumns.own) return `(own_expiry) WHERE own_expiry IS NOT NULL`;
  return `(${quote(column)}) WHERE ${quote(column)} IS NOT NULL`;
}

/** Also their names in the table of indexes; no declared name can begin with "~". */
export const ttlColumns = { default: "~modified_at", own: "~own_expiry" } as const;

export function createIndex(names: Names, container: string, column: string, concurrently = false): string {
  return `CREATE INDEX ${concurrently ? "CONCURRENTLY " : ""}${quote(names.index(container, column))} ON ${names.table(container)} ${indexTarget(column)}`;
}

export async function supportsLz4(session: Session): Promise<boolean> {
  const found = await session.query(
    `SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)`,
  );
  return found.length > 0;
}
