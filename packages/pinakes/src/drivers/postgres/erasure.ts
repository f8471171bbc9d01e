/** Support for erasures in PostgreSQL: all rows of a tenant, feed entries by item, and tables without dead rows. */
import { tenantRange, type StoredItem, type StoredKey } from "../../items/item-engine.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import type { Database } from "./connection.ts";
import type { Names } from "./names.ts";

type DumpedRow = [
  pk: string,
  id: string,
  etag: string,
  modifiedAt: number,
  ttl: number | null,
  doc: string,
  key: string,
];

/** In the order of the stored keys. A long pk is stored as a hash, which does not show the tenant: its full text does. */
export async function dump(
  database: Database,
  table: string,
  options: { readonly cursor: string | undefined; readonly limit: number; readonly tenant: string | undefined },
): Promise<{ rows: readonly StoredItem[]; cursor?: string | undefined }> {
  const { cursor, limit, tenant } = options;
  const after = cursor === undefined ? ["", ""] : (JSON.parse(cursor) as [string, string]);
  const ofTenant = tenant === undefined ? "" : `AND coalesce(pk_full, pk) >= $4 AND coalesce(pk_full, pk) < $5`;
  const sql = `SELECT coalesce(pk_full, pk), id, etag, modified_at, ttl, doc, pk FROM ${table} WHERE (pk, id) > ($1, $2) ${ofTenant} ORDER BY pk, id LIMIT $3`;
  const bounds = tenant === undefined ? [] : tenantRange(tenant);
  const found = await database.query<DumpedRow>(sql, [...after, limit, ...bounds]);
  const rows = found.map(([pk, idKey, etag, modifiedAt, ttl, json]) => ({ pk, idKey, etag, modifiedAt, ttl, json }));
  const last = found.length < limit ? undefined : found.at(-1);
  return { rows, cursor: last === undefined ? undefined : JSON.stringify([last[6], last[1]]) };
}

export async function forgetFeed(
  database: Database,
  feed: string,
  tenant: string,
  keys: readonly StoredKey[],
): Promise<number> {
  const sql = `WITH gone AS (DELETE FROM ${feed} f USING unnest($2::text[], $3::text[]) AS k (pk, id_key)
    WHERE f.tenant = $1 AND f.pk = k.pk AND f.id_key = k.id_key RETURNING 1) SELECT count(*)::int FROM gone`;
  const values = [tenant, keys.map(({ pk }) => pk), keys.map(({ idKey }) => idKey)];
  const [row] = await database.query<[number]>(sql, values);
  return row?.[0] ?? 0;
}

/**
 * Each table is locked while it is copied. The planner's statistics hold samples of values: they are made anew first, so that the old ones
 * can be removed last, when the transactions that may still see them have ended. Whoever does not own the database cannot rewrite them:
 * PostgreSQL then leaves them to its own vacuum. What the server's own log and backups hold is the operator's. */
export async function scrubTables(database: Database, names: Names, of: "items" | "triples"): Promise<ScrubReport> {
  const ours = `c.relkind = 'r' AND n.nspname = ${names.schemaText} AND c.relname ${of === "items" ? "!~" : "~"} '^pinakes_(triple|quads)'`;
  const from = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${ours}`;
  await using session = await database.session();
  const tables = await session.query<[string]>(`SELECT format('%I.%I', n.nspname, c.relname) ${from} ORDER BY 1`);
  for (const [table] of tables) await session.run(`ANALYZE ${table}`);
  for (const [table] of tables) await session.run(`VACUUM (FULL) ${table}`);
  await session.run("VACUUM (FULL) pg_catalog.pg_statistic");
  const [size] = await session.query<[number]>(
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint ${from}`,
  );
  return { outcome: "rewritten", bytes: size?.[0] ?? 0 };
}
