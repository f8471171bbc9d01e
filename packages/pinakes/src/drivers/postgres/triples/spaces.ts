/** The row of a space: its status and its counters. A write locks it, so writes to one space are serialised. */
import type { SpaceInfo, SpaceUsage } from "../../../ports/triple-store.ts";
import { requireNotClosed, requireRestorable, type SpaceStatus } from "../../../triples/space-errors.ts";
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import type { Database, Session, Transaction } from "../connection.ts";
import type { TripleTables } from "./tables.ts";

export interface Space {
  readonly id: number;
  readonly status: SpaceStatus;
}

export const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

export async function readSpace(
  session: Session,
  tables: TripleTables,
  { tenant, space }: SpaceKey,
): Promise<Space | undefined> {
  const [row] = await session.query<[number, SpaceStatus]>(
    `SELECT id, status FROM ${tables.spaces} WHERE tenant = $1 AND name = $2`,
    [tenant, space],
  );
  return row && { id: row[0], status: row[1] };
}

/** Only statements after this one see what others wrote before they released the lock. */
export async function lockSpace(
  session: Session,
  tables: TripleTables,
  { tenant, space }: SpaceKey,
): Promise<Space | undefined> {
  const sql = `SELECT id, status FROM ${tables.spaces} WHERE tenant = $1 AND name = $2 FOR UPDATE`;
  const [row] = await session.query<[number, SpaceStatus]>(sql, [tenant, space]);
  return row && { id: row[0], status: row[1] };
}

export interface Counts {
  readonly quads: number;
  readonly supports: number;
  readonly terms: number;
  /** Numbers assigned to terms so far. */
  readonly made: number;
}

export async function addCounts(
  session: Session,
  tables: TripleTables,
  space: number,
  { quads, supports, terms, made }: Counts,
  key: SpaceKey,
): Promise<void> {
  if (quads === 0 && supports === 0 && terms === 0 && made === 0) return;
  await session.query(
    `UPDATE ${tables.spaces} SET quads = quads + $4::bigint, supports = supports + $5::bigint, terms = terms + $6::bigint, next_term = next_term + $7::bigint
     WHERE tenant = $1 AND name = $2 AND id = $3::bigint`,
    [key.tenant, key.space, space, quads, supports, terms, made],
  );
}

export async function openSpace(database: Database, tables: TripleTables, key: SpaceKey): Promise<void> {
  requireNotClosed(key.space, await settleStatus(database, tables, key, "open", []));
}

export async function fenceSpace(database: Database, tables: TripleTables, key: SpaceKey): Promise<void> {
  await settleStatus(database, tables, key, "fenced", ["open"]);
}

export async function unfenceSpace(database: Database, tables: TripleTables, key: SpaceKey): Promise<void> {
  await database.transact(
    async (transaction: Transaction) => {
      await transaction.run(begin);
      const space = await lockSpace(transaction, tables, key);
      requireRestorable(key.space, space?.status);
      await transaction.query(`UPDATE ${tables.spaces} SET status = 'open' WHERE tenant = $1 AND name = $2`, [
        key.tenant,
        key.space,
      ]);
      await transaction.commit();
    },
    { idempotent: true },
  );
}

/** Registers the space with a status, or sets it if the current one is in `from`; returns the resulting status. */
export async function settleStatus(
  database: Database,
  tables: TripleTables,
  { tenant, space }: SpaceKey,
  status: SpaceStatus,
  from: readonly SpaceStatus[],
): Promise<SpaceStatus | undefined> {
  const known = await readSpace(database, tables, { tenant, space });
  if (known !== undefined && !from.includes(known.status)) return known.status;
  const [row] = await database.query<[SpaceStatus]>(
    `INSERT INTO ${tables.spaces} AS s (tenant, name, status) VALUES ($1, $2, $3)
     ON CONFLICT (tenant, name) DO UPDATE SET status = CASE WHEN s.status = ANY ($4::text[]) THEN $3 ELSE s.status END RETURNING status`,
    [tenant, space, status, from],
  );
  return row?.[0];
}

export async function usageOf(
  session: Session,
  tables: TripleTables,
  { tenant, space }: SpaceKey,
): Promise<SpaceUsage> {
  const sql = `SELECT quads, supports, terms FROM ${tables.spaces} WHERE tenant = $1 AND name = $2`;
  const [row] = await session.query<[number, number, number]>(sql, [tenant, space]);
  const [quads, supports, terms] = row ?? [0, 0, 0];
  return { quads, supports, terms };
}

export async function listSpaces(
  session: Session,
  tables: TripleTables,
  tenant: string,
  after: string,
  limit: number,
): Promise<{ spaces: SpaceInfo[]; done: boolean }> {
  const rows = await session.query<[string, SpaceStatus]>(
    `SELECT name, status FROM ${tables.spaces} WHERE tenant = $1 AND name > $2 ORDER BY tenant, name LIMIT $3::bigint + 1`,
    [tenant, after, limit],
  );
  return { spaces: rows.slice(0, limit).map(([space, status]) => ({ space, status })), done: rows.length <= limit };
}
