/** Reads that return many rows. The same code runs on the main thread (small pages) and in the reader thread (the rest). */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  indexBuilding,
  type FeedChange,
  type FeedPage,
  type FeedRequest,
  type ScanRange,
  type ScanRequest,
  type ScanResult,
  type ScanRow,
  type StoredKey,
  type TenantFilter,
} from "../../items/item-engine.ts";
import { feedTrimmed } from "../../items/item-engine.ts";
import { isExpired } from "../../domain/ttl.ts";
import { prefilterSql, type PrefilterBindings } from "./prefilter.ts";
import {
  feedName,
  loadContainer,
  quoted,
  tableName,
  visibleSql,
  type SqliteContainer,
  type StoredIndex,
} from "./schema.ts";

type Bindings = Record<string, string | number | Uint8Array>;

/** Prepared statements by their SQL: there are few distinct ones per container. */
class StatementCache {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      // Definitions change rarely; the bound stops a process that opens many containers from growing for ever.
      if (this.#statements.size > 2_000) this.#statements.clear();
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

export class Scanner {
  readonly #db: DatabaseSync;
  readonly #statements: StatementCache;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#statements = new StatementCache(db);
  }

  /**
   * For the main thread: examines at most `limit` rows. Undefined if some of them have expired, for then it might have to examine any
   * number.
   */
  scanSmall(container: SqliteContainer, request: ScanRequest): ScanResult | undefined {
    const { ttl } = container.compiled;
    const result = this.scan(container, request, ttl !== null);
    return ttl !== null && result.rows.some((row) => isExpired(ttl, row.ttl, row.modifiedAt, request.now))
      ? undefined
      : result;
  }

  scan(
    container: SqliteContainer,
    { range, reverse, limit, bytesMax, now, prefilter }: ScanRequest,
    expiredToo = false,
  ): ScanResult {
    const { condition, key, bindings } = this.#where(container, range, expiredToo ? undefined : now);
    const more: PrefilterBindings = {};
    const kept = prefilterSql(prefilter, more);
    // Rows that the prefilter drops come without their document, and count: the LIMIT bounds the examined rows.
    const doc = kept === undefined ? "doc" : `CASE WHEN ${kept} THEN doc END`;
    const sql = `SELECT pk, id, etag, modified_at, ttl, ${doc}, ${key} FROM ${tableName(container.compiled.name)} WHERE ${condition} ORDER BY ${key} ${reverse ? "DESC" : "ASC"} LIMIT :limit`;
    const rows: ScanRow[] = [];
    let bytes = 0;
    let looked = 0;
    let last: RowArray | undefined;
    const result = (done: boolean): ScanResult => {
      if (kept === undefined || last === undefined) return { rows, done };
      return { rows, done, looked: { rows: looked, position: positionOf(last, range) } };
    };
    // One row more than requested tells whether the range continues.
    for (const row of this.#statements
      .get(sql)
      .iterate({ ...bindings, ...more, limit: limit + 1 }) as unknown as Iterable<RowArray>) {
      if (looked === limit || bytes >= bytesMax) return result(false);
      looked += 1;
      last = row;
      if (row[5] === null) continue;
      const scanned = toRow(row, range);
      bytes += scanned.json.length;
      rows.push(scanned);
    }
    return result(true);
  }

  count(container: SqliteContainer, range: ScanRange, now: number): number {
    const { condition, bindings } = this.#where(container, range, now);
    const sql = `SELECT count(*) FROM ${tableName(container.compiled.name)} WHERE ${condition}`;
    return (this.#statements.get(sql).get(bindings) as unknown as [number])[0];
  }

  changes(container: SqliteContainer, { tenant, position, limit }: FeedRequest): FeedPage {
    // One snapshot for the bounds and the entries: a trim in between would open a gap.
    this.#db.exec("BEGIN");
    try {
      return this.#changes(container.compiled.name, tenant, position, limit);
    } finally {
      this.#db.exec("COMMIT");
    }
  }

  #changes(name: string, tenant: string, position: string | undefined, limit: number): FeedPage {
    const [seq, trimmed] = this.#statements
      .get("SELECT feed_seq, feed_trimmed FROM containers WHERE name = ?")
      .get(name) as unknown as [number, number];
    if (position === "now") return { changes: [], position: String(seq), more: false };
    const after = position === undefined ? trimmed : Number(position);
    if (after < trimmed) throw feedTrimmed(name);
    const sql = `SELECT seq, kind, pk, id_key, id, etag, at, expired FROM ${feedName(name)} WHERE tenant = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
    const rows = this.#statements.get(sql).all(tenant, after, seq, limit) as unknown as FeedArray[];
    const more = rows.length === limit;
    return { changes: rows.map(toChange), position: String(more ? rows.at(-1)?.[0] : seq), more };
  }

  expired(container: SqliteContainer, now: number, limit: number, tenants?: TenantFilter): StoredKey[] {
    const { name, ttl } = container.compiled;
    if (ttl === null) return [];
    const table = tableName(name);
    const inList = "json_extract(pk, '$[0]') IN (SELECT value FROM json_each(?))";
    const filter = tenants === undefined ? "" : ` AND ${tenants.included ? "" : "NOT "}(${inList})`;
    const list = tenants === undefined ? [] : [JSON.stringify(tenants.list)];
    const own = this.#statements
      .get(
        `SELECT pk, id FROM ${table} WHERE own_expiry IS NOT NULL AND own_expiry <= ?${filter} ORDER BY own_expiry LIMIT ?`,
      )
      .all(now, ...list, limit);
    const byDefault =
      ttl === -1
        ? []
        : this.#statements
            .get(
              `SELECT pk, id FROM ${table} WHERE ttl IS NULL AND modified_at <= ?${filter} ORDER BY modified_at LIMIT ?`,
            )
            .all(now - ttl * 1000, ...list, limit - own.length);
    return ([...own, ...byDefault] as unknown as [string, string][]).map(([pk, idKey]) => ({ pk, idKey }));
  }

  /** Without `now`, expired rows are found too. */
  #where(
    { compiled, indexes }: SqliteContainer,
    range: ScanRange,
    now: number | undefined,
  ): { condition: string; key: string; bindings: Bindings } {
    const visible = now === undefined ? "1" : visibleSql(compiled.ttl);
    const time: Bindings = now === undefined || visible === "1" ? {} : { now };
    if (range.kind === "partition") {
      const upper: Bindings = range.upper === undefined ? {} : { upper: range.upper };
      const below = range.upper === undefined ? "" : " AND id < :upper";
      return {
        condition: `pk = :pk AND id >= :lower${below} AND ${visible}`,
        key: "id",
        bindings: { pk: range.pk, lower: range.lower, ...upper, ...time },
      };
    }
    const key = quoted(this.#readyIndex(compiled.name, range.index, indexes[range.index]).column);
    const bindings: Bindings = {
      lower: Buffer.concat([range.partition, range.lower]),
      upper: Buffer.concat([range.partition, range.upper]),
      ...time,
    };
    return { condition: `${key} >= :lower AND ${key} < :upper AND ${visible}`, key, bindings };
  }

  /** Our state may be old: before an index is rejected, the stored one is read. */
  #readyIndex(container: string, name: string, known: StoredIndex | undefined): StoredIndex {
    if (known?.state === "ready") return known;
    const stored = loadContainer(this.#db, container)?.indexes[name];
    if (stored?.state === "ready") return stored;
    throw indexBuilding(container, name, stored === undefined ? 0 : progressOf(stored));
  }
}

export function progressOf({ state, builtTo, buildTo }: StoredIndex): number {
  return state === "ready" || buildTo === 0 ? 1 : Math.min(0.99, builtTo / buildTo);
}

type RowArray = [
  pk: string,
  id: string,
  etag: string,
  modifiedAt: number,
  ttl: number | null,
  doc: string | null,
  key: string | Uint8Array,
];

function toRow([pk, idKey, etag, modifiedAt, ttl, doc, key]: RowArray, range: ScanRange): ScanRow {
  const row = { pk, idKey, etag, modifiedAt, ttl, json: doc as string };
  return range.kind === "partition" ? row : { ...row, sortKey: sortKeyOf(key, range) };
}

function positionOf([, idKey, , , , , key]: RowArray, range: ScanRange): string {
  return range.kind === "partition" ? idKey : sortKeyOf(key, range);
}

function sortKeyOf(key: string | Uint8Array, range: Extract<ScanRange, { kind: "index" }>): string {
  return Buffer.from(key as Uint8Array).toString("hex", range.partition.length);
}

type FeedArray = [
  seq: number,
  kind: "put" | "delete",
  pk: string,
  idKey: string,
  id: string,
  etag: string,
  at: number,
  expired: number,
];

function toChange([, kind, pk, idKey, id, etag, at, expired]: FeedArray): FeedChange {
  return { kind, pk, idKey, id, etag, at, expired: expired === 1 };
}
