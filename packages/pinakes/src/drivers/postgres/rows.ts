/** The statements that change rows: puts and deletes of items, and the changes they put into the feed. */
import type { PlannedChange, PlannedWrite } from "../../items/plan-batch.ts";
import type { Loaded } from "./catalog.ts";
import type { Session } from "./connection.ts";
import { partitionKeyOf, quote, uniqueColumn } from "./names.ts";

type Put = NonNullable<PlannedWrite["put"]>;

/** Sends the statements, without waiting for them. */
export function sendWrites(session: Session, loaded: Loaded, pk: string, writes: readonly PlannedWrite[]): Promise<unknown>[] {
  const gone = writes.filter(({ put }) => put === undefined).map(({ idKey }) => idKey);
  const puts = writes.flatMap(({ put }) => (put === undefined ? [] : [put]));
  const sent: Promise<unknown>[] = [];
  if (gone.length > 0) sent.push(session.query(`DELETE FROM ${loaded.table} WHERE pk = $1 AND id = ANY ($2)`, [partitionKeyOf(pk), gone]));
  if (goOneByOne(puts)) for (const put of puts) sent.push(session.query(putOneSql(loaded), [...partitionValues(pk), ...valuesOf(put)]));
  else if (puts.length > 0) sent.push(session.query(putManySql(loaded), [...partitionValues(pk), ...transpose(puts.map(valuesOf))]));
  return sent;
}

function partitionValues(pk: string): [string, string | null] {
  const key = partitionKeyOf(pk);
  return [key, key === pk ? null : pk];
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Aligned with valuesOf. */
function columnsOf({ compiled, columns }: Loaded): Column[] {
  return [
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

function valuesOf({ idKey, etag, modifiedAt, ttl, uniques, keys, json }: Put): unknown[] {
  const ownExpiry = ttl === null || ttl === -1 ? null : modifiedAt + ttl * 1000;
  return [idKey, etag, modifiedAt, ttl, ownExpiry, ...uniques, ...keys.map((key) => (key === null ? null : Buffer.concat([key.partition, key.sort]))), json];
}

const fewPuts = 4;
const largeChars = 8_192;

/** Inside an array a document is escaped, and read back, character by character: large ones go as they are, a statement each. */
function goOneByOne(puts: readonly Put[]): boolean {
  return puts.length === 1 || (puts.length <= fewPuts && puts.reduce((sum, { json }) => sum + json.length, 0) > largeChars);
}

function putOneSql(loaded: Loaded): string {
  const columns = columnsOf(loaded);
  return `INSERT INTO ${loaded.table} (pk, pk_full, ${columns.map(({ name }) => name).join(", ")}) VALUES ($1, $2, ${columns.map((_, i) => `$${i + 3}`).join(", ")}) ${onConflict(columns)}`;
}

function putManySql(loaded: Loaded): string {
  const columns = columnsOf(loaded);
  const names = columns.map(({ name }) => name).join(", ");
  const lists = columns.map(({ type }, i) => `$${i + 3}::${type}[]`).join(", ");
  return `INSERT INTO ${loaded.table} (pk, pk_full, ${names}) SELECT $1, $2, ${names} FROM unnest(${lists}) AS r (${names}) ${onConflict(columns)}`;
}

function onConflict(columns: readonly Column[]): string {
  const changed = columns.filter(({ name }) => name !== "id");
  return `ON CONFLICT (pk, id) DO UPDATE SET ${changed.map(({ name }) => `${name} = excluded.${name}`).join(", ")}`;
}

function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

/** The transaction's number orders commits, the place in the commit orders its changes. */
export function sendChanges(
  session: Session,
  { feed }: Loaded,
  tenant: string,
  pk: string,
  epoch: number,
  changes: readonly PlannedChange[],
): Promise<unknown>[] {
  if (changes.length === 0) return [];
  const text = `INSERT INTO ${feed} (epoch, xid, n, tenant, pk, id_key, id, kind, etag, at, expired)
    SELECT $1, pg_current_xact_id(), r.n, $2, $3, r.id_key, r.id, r.kind, r.etag, r.at, r.expired
    FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::boolean[]) WITH ORDINALITY AS r (id_key, id, kind, etag, at, expired, n)`;
  const lists = transpose(changes.map(({ idKey, id, kind, etag, at, expired }) => [idKey, id, kind, etag, at, expired]));
  return [session.query(text, [epoch, tenant, pk, ...lists])];
}
