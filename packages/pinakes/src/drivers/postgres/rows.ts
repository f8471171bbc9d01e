/** The statements that change rows: puts and deletes of items, and the changes they add to the feed. */
import type { BatchPlan, CommitRequest, PlannedWrite } from "../../items/plan-batch.ts";
import type { Loaded } from "./catalog.ts";
import type { Session } from "./connection.ts";
import { partitionKeyOf, quote, uniqueColumn } from "./names.ts";

type Put = NonNullable<PlannedWrite["put"]>;

/** What one request of a commit writes. */
export interface Writing {
  readonly request: CommitRequest;
  readonly plan: Extract<BatchPlan, { ok: true }>;
}

/** Sends the statements, without waiting for them. */
export function sendWrites(session: Session, loaded: Loaded, writing: readonly Writing[]): Promise<unknown>[] {
  const rows = writing.flatMap(({ request: { pk }, plan }) =>
    plan.writes.map(({ idKey, put }) => ({ pk, idKey, put })),
  );
  const gone = rows.filter(({ put }) => put === undefined);
  const puts = rows.flatMap(({ pk, put }) => (put === undefined ? [] : [{ pk, put }]));
  const listed = puts.length === 1 ? [] : puts.filter(({ put }) => put.json.length <= listedCharsMax);
  const plain = puts.length === 1 ? puts : puts.filter(({ put }) => put.json.length > listedCharsMax);
  return [
    ...(gone.length === 0
      ? []
      : [session.query(deleteSql(loaded), transpose(gone.map(({ pk, idKey }) => [partitionKeyOf(pk), idKey])))]),
    ...inPowersOfTwo(plain).map((some) => session.query(putPlainSql(loaded, some.length), some.flatMap(valuesOf))),
    ...(listed.length === 0 ? [] : [session.query(putListedSql(loaded), transpose(listed.map(valuesOf)))]),
  ];
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Aligned with valuesOf. */
function columnsOf({ compiled, columns }: Loaded): Column[] {
  return [
    { name: "pk", type: "text" },
    { name: "pk_full", type: "text" },
    { name: "id", type: "text" },
    { name: "etag", type: "text" },
    { name: "modified_at", type: "bigint" },
    { name: "ttl", type: "int" },
    { name: "own_expiry", type: "bigint" },
    ...compiled.uniqueKeys.map(({ name }) => ({ name: quote(uniqueColumn(name)), type: "text" })),
    ...columns.map((name) => ({ name: quote(name), type: "bytea" })),
    { name: "doc", type: "text" },
  ];
}

function valuesOf({ pk, put }: { readonly pk: string; readonly put: Put }): unknown[] {
  const { idKey, etag, modifiedAt, ttl, uniques, keys, json } = put;
  const key = partitionKeyOf(pk);
  const ownExpiry = ttl === null || ttl === -1 ? null : modifiedAt + ttl * 1000;
  const indexKeys = keys.map((one) => (one === null ? null : Buffer.concat([one.partition, one.sort])));
  return [key, key === pk ? null : pk, idKey, etag, modifiedAt, ttl, ownExpiry, ...uniques, ...indexKeys, json];
}

/** Inside an array a document is escaped, and read back, character by character: larger ones are sent as they are, a few in a statement. */
const listedCharsMax = 8_192;
const plainPutsMax = 8;

/** Few sizes, because each is a statement that every connection prepares. */
function inPowersOfTwo<T>(rows: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let [from, size] = [0, plainPutsMax]; from < rows.length; from += size) {
    while (size > rows.length - from) size /= 2;
    parts.push(rows.slice(from, from + size));
  }
  return parts;
}

function putPlainSql(loaded: Loaded, count: number): string {
  const columns = columnsOf(loaded);
  const row = (first: number) => `(${columns.map(({ type }, i) => `$${first + i}::${type}`).join(", ")})`;
  const rows = Array.from({ length: count }, (_, i) => row(i * columns.length + 1));
  return `INSERT INTO ${loaded.table} (${columns.map(({ name }) => name).join(", ")}) VALUES ${rows.join(", ")} ${onConflict(columns)}`;
}

function putListedSql(loaded: Loaded): string {
  const columns = columnsOf(loaded);
  const names = columns.map(({ name }) => name).join(", ");
  const lists = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(", ");
  return `INSERT INTO ${loaded.table} (${names}) SELECT ${names} FROM unnest(${lists}) AS r (${names}) ${onConflict(columns)}`;
}

/** Row by row through the index, as in read.ts. */
function deleteSql({ table }: Loaded): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT t.ctid FROM unnest($1::text[], $2::text[]) AS k (pk, id)
    CROSS JOIN LATERAL (SELECT ctid FROM ${table} WHERE pk = k.pk AND id = k.id OFFSET 0) AS t))`;
}

const fixed: ReadonlySet<string> = new Set(["pk", "pk_full", "id"]);

function onConflict(columns: readonly Column[]): string {
  const changed = columns.filter(({ name }) => !fixed.has(name));
  return `ON CONFLICT (pk, id) DO UPDATE SET ${changed.map(({ name }) => `${name} = excluded.${name}`).join(", ")}`;
}

function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

/** The transaction's number orders commits, the position in the commit orders its changes. */
export function sendChanges(
  session: Session,
  { feed }: Loaded,
  epoch: number,
  writing: readonly Writing[],
): Promise<unknown>[] {
  const rows = writing.flatMap(({ request: { tenant, pk }, plan }) =>
    plan.changes.map(({ idKey, id, kind, etag, at, expired }) => [tenant, pk, idKey, id, kind, etag, at, expired]),
  );
  if (rows.length === 0) return [];
  const columns = "tenant, pk, id_key, id, kind, etag, at, expired";
  const text = `INSERT INTO ${feed} (epoch, xid, n, ${columns}) SELECT $1, pg_current_xact_id(), r.n, ${columns}
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::boolean[]) WITH ORDINALITY AS r (${columns}, n)`;
  return [session.query(text, [epoch, ...transpose(rows)])];
}
