/** Ranges: one index range scan each, in key order; PostgreSQL leaves out expired rows. */
import { PinakesError } from "../../domain/errors.ts";
import type { ContainerTtl } from "../../domain/ttl.ts";
import type { ScanRange, ScanRequest, ScanResult, ScanRow, StoredKey, TenantFilter } from "../../items/item-engine.ts";
import type { Loaded } from "./catalog.ts";
import type { Session } from "./connection.ts";
import { partitionKeyOf, quote } from "./names.ts";
import { prefilterSql } from "./prefilter.ts";

/** Collects a statement's values and returns their placeholders. */
class Values {
  readonly list: unknown[] = [];
  add(value: unknown): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/**
 * Asks for one row more than requested, to know whether the range continues. A row past `limit`, or past the bytes of those before it,
 * comes without its document, and only the first such row comes at all: nothing unbounded is read or sent.
 */
export async function scan(
  session: Session,
  loaded: Loaded,
  ttl: ContainerTtl,
  request: ScanRequest,
): Promise<ScanResult> {
  const { range, now } = request;
  const values = new Values();
  const kept = prefilterSql(request.prefilter, (value) => values.add(value));
  if (kept !== undefined) return scanFiltered(session, loaded, ttl, request, values, kept);
  const { key, direction, bytes, wanted, sortKey } = placeholders(loaded, request, values);
  const rows = await session.query<FoundRow>(
    `SELECT pk, id, etag, modified_at, ttl, sort_key, CASE WHEN place <= ${wanted}::bigint AND through - bytes < ${bytes}::bigint THEN doc END
     FROM (
       SELECT r.*, row_number() OVER w AS place, sum(bytes) OVER w AS through, lag(bytes, 1, 0) OVER w AS last_bytes
       FROM (
         SELECT ${range.kind === "partition" ? "NULL" : "coalesce(pk_full, pk)"} AS pk, id, etag, modified_at, ttl, ${sortKey} AS sort_key, ${key} AS key, doc, octet_length(doc) AS bytes
         FROM ${loaded.table} WHERE ${condition(loaded, ttl, range, now, values)} ORDER BY ${key}${direction} LIMIT ${wanted}::bigint + 1
       ) r WINDOW w AS (ORDER BY key${direction} ROWS UNBOUNDED PRECEDING)
     ) n WHERE through - bytes - last_bytes < ${bytes}::bigint ORDER BY key${direction}`,
    values.list,
  );
  const found = rows.flatMap((row) => toRow(range, row));
  return { rows: found, done: found.length === rows.length };
}

/**
 * The same with rows left out: the LIMIT bounds the rows that are examined, and bytes count only for those that are kept. It returns the
 * kept rows and the last examined one, where the scan continues. A row is past if the bytes of those before it are spent, or if it is the
 * one more than requested.
 */
async function scanFiltered(
  session: Session,
  loaded: Loaded,
  ttl: ContainerTtl,
  request: ScanRequest,
  values: Values,
  kept: string,
): Promise<ScanResult> {
  const { range, now } = request;
  const { key, direction, bytes, wanted, sortKey } = placeholders(loaded, request, values);
  const rows = await session.query<FilteredRow>(
    `SELECT pk, id, etag, modified_at, ttl, sort_key, CASE WHEN hit AND NOT past THEN doc END, past, place
     FROM (
       SELECT n.*, lead(past, 1, true) OVER (ORDER BY place) AS next_past, lag(past, 1, false) OVER (ORDER BY place) AS last_past FROM (
         SELECT r.*, row_number() OVER w AS place,
           row_number() OVER w > ${wanted}::bigint OR sum(bytes) OVER w - bytes >= ${bytes}::bigint AS past
         FROM (
           SELECT k.*, CASE WHEN hit THEN octet_length(doc) ELSE 0 END AS bytes FROM (
             SELECT ${range.kind === "partition" ? "NULL" : "coalesce(pk_full, pk)"} AS pk, id, etag, modified_at, ttl, ${sortKey} AS sort_key, ${key} AS key, doc, ${kept} AS hit
             FROM ${loaded.table} WHERE ${condition(loaded, ttl, range, now, values)} ORDER BY ${key}${direction} LIMIT ${wanted}::bigint + 1
           ) k
         ) r WINDOW w AS (ORDER BY key${direction} ROWS UNBOUNDED PRECEDING)
       ) n
     ) m WHERE CASE WHEN past THEN NOT last_past ELSE hit OR next_past END ORDER BY place`,
    values.list,
    { prepare: false },
  );
  const last = rows.findLast(([, , , , , , , past]) => !past);
  const found = rows.flatMap(([pk, id, etag, modifiedAt, ttlOf, sort, doc]) =>
    toRow(range, [pk, id, etag, modifiedAt, ttlOf, sort, doc]),
  );
  const done = rows.every(([, , , , , , , past]) => !past);
  if (last === undefined) return { rows: found, done };
  return { rows: found, done, looked: { rows: last[8], position: last[5] ?? last[1] } };
}

/** The parts that both statements share; the values go in here. */
function placeholders(loaded: Loaded, { range, reverse, limit, bytesMax }: ScanRequest, values: Values) {
  const key = keyOf(loaded, range);
  const direction = reverse ? " DESC" : "";
  const bytes = values.add(Math.max(1, bytesMax));
  const wanted = values.add(limit);
  const sortKey =
    range.kind === "partition"
      ? "NULL"
      : `encode(substr(${key}, ${values.add(range.partition.length + 1)}::int), 'hex')`;
  return { key, direction, bytes, wanted, sortKey };
}

type FilteredRow = [...FoundRow, past: boolean, place: number];
type FoundRow = [
  pk: string | null,
  id: string,
  etag: string,
  modifiedAt: number,
  ttl: number | null,
  sortKey: string | null,
  json: string | null,
];

function toRow(range: ScanRange, [pk, idKey, etag, modifiedAt, ttl, sortKey, json]: FoundRow): ScanRow[] {
  if (json === null) return [];
  const row = { pk: range.kind === "partition" ? range.pk : (pk as string), idKey, etag, modifiedAt, ttl, json };
  return [sortKey === null ? row : { ...row, sortKey }];
}

export async function count(
  session: Session,
  loaded: Loaded,
  ttl: ContainerTtl,
  range: ScanRange,
  now: number,
): Promise<number> {
  const values = new Values();
  const [row] = await session.query<[number]>(
    `SELECT count(*) FROM ${loaded.table} WHERE ${condition(loaded, ttl, range, now, values)}`,
    values.list,
  );
  return row?.[0] ?? 0;
}

/** The column that a range runs over. */
function keyOf({ compiled, columns }: Loaded, range: ScanRange): string {
  if (range.kind === "partition") return "id";
  const column = columns[compiled.indexes.findIndex(({ name }) => name === range.index)];
  if (column === undefined)
    throw new PinakesError(
      "INTERNAL",
      `the query was planned for an index "${range.index}" that container "${compiled.name}" has not`,
    );
  return quote(column);
}

function condition(loaded: Loaded, ttl: ContainerTtl, range: ScanRange, now: number, values: Values): string {
  return [...bounds(loaded, range, values), ...visible(ttl, now, values)].join(" AND ");
}

function bounds(loaded: Loaded, range: ScanRange, values: Values): string[] {
  if (range.kind === "partition") {
    const lower = [`pk = ${values.add(partitionKeyOf(range.pk))}`, `id >= ${values.add(range.lower)}`];
    return range.upper === undefined ? lower : [...lower, `id < ${values.add(range.upper)}`];
  }
  const key = keyOf(loaded, range);
  const at = (bound: Uint8Array) => values.add(Buffer.concat([range.partition, bound]));
  return [`${key} >= ${at(range.lower)}`, `${key} < ${at(range.upper)}`];
}

/** domain/ttl.ts in SQL. `own_expiry` is null without a ttl of its own and for -1. */
function visible(ttl: ContainerTtl, now: number, values: Values): string[] {
  if (ttl === null) return [];
  const own = `own_expiry IS NULL OR own_expiry > ${values.add(now)}::bigint`;
  if (ttl === -1) return [`(${own})`];
  return [`CASE WHEN ttl IS NULL THEN modified_at > ${values.add(now - ttl * 1000)}::bigint ELSE ${own} END`];
}

interface ExpiredQuery {
  readonly ttl: ContainerTtl;
  readonly now: number;
  readonly limit: number;
  readonly tenants: TenantFilter | undefined;
}

/** Each half runs over its own partial index, oldest first. */
export async function expired(
  session: Session,
  { table }: Loaded,
  { ttl, now, limit, tenants }: ExpiredQuery,
): Promise<StoredKey[]> {
  if (ttl === null) return [];
  const values = new Values();
  const [nowAt, limitAt] = [values.add(now), values.add(limit)];
  // The tenant is the first text of every pk.
  const filter =
    tenants === undefined
      ? ""
      : ` AND (substring(coalesce(pk_full, pk) from '^\\["(?:[^"\\\\]|\\\\.)*"') = ANY (${values.add(tenants.list.map((tenant) => JSON.stringify([tenant]).slice(0, -1)))}::text[])) = ${tenants.included}`;
  const own = `(SELECT coalesce(pk_full, pk) AS pk, id, own_expiry AS due FROM ${table} WHERE own_expiry <= ${nowAt}::bigint${filter} ORDER BY own_expiry LIMIT ${limitAt})`;
  if (ttl === -1) return toKeys(await session.query(`SELECT pk, id FROM ${own} AS o ORDER BY due`, values.list));
  const delay = values.add(ttl * 1000);
  const byDefault = `(SELECT coalesce(pk_full, pk), id, modified_at + ${delay}::bigint FROM ${table} WHERE ttl IS NULL AND modified_at <= ${nowAt}::bigint - ${delay}::bigint${filter} ORDER BY modified_at LIMIT ${limitAt})`;
  return toKeys(
    await session.query(
      `SELECT pk, id FROM (${own} UNION ALL ${byDefault}) AS o ORDER BY due LIMIT ${limitAt}`,
      values.list,
    ),
  );
}

function toKeys(rows: readonly (readonly [string, string])[]): StoredKey[] {
  return rows.map(([pk, idKey]) => ({ pk, idKey }));
}
