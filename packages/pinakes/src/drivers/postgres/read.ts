/** Point reads. */
import type { StoredItem, StoredKey, StoredRawItem } from "../../items/item-engine.ts";
import type { Loaded } from "./catalog.ts";
import type { Session } from "./connection.ts";
import { partitionKeyOf } from "./names.ts";

type ItemRow = [etag: string, modifiedAt: number, ttl: number | null, json: string];

export async function readItem(
  session: Session,
  { table }: Loaded,
  { pk, idKey }: StoredKey,
): Promise<StoredItem | undefined> {
  const [row] = await session.query<ItemRow>(
    `SELECT etag, modified_at, ttl, doc FROM ${table} WHERE pk = $1 AND id = $2`,
    [partitionKeyOf(pk), idKey],
  );
  if (row === undefined) return undefined;
  const [etag, modifiedAt, ttl, json] = row;
  return { pk, idKey, etag, modifiedAt, ttl, json };
}

/** pg decodes every value to text before we see it, so the bytes are encoded again here: still no JSON is parsed. */
export async function readRawItem(
  session: Session,
  loaded: Loaded,
  key: StoredKey,
): Promise<StoredRawItem | undefined> {
  const item = await readItem(session, loaded, key);
  return item && { etag: item.etag, modifiedAt: item.modifiedAt, ttl: item.ttl, bytes: Buffer.from(item.json, "utf8") };
}

export async function readItems(
  session: Session,
  { table }: Loaded,
  keys: readonly StoredKey[],
): Promise<(StoredItem | undefined)[]> {
  const [first] = keys;
  if (first === undefined) return [];
  return keys.every(({ pk }) => pk === first.pk)
    ? readOfOne(session, table, first.pk, keys)
    : readOfMany(session, table, keys);
}

async function readOfOne(
  session: Session,
  table: string,
  pk: string,
  keys: readonly StoredKey[],
): Promise<(StoredItem | undefined)[]> {
  const sql = `SELECT id, etag, modified_at, ttl, doc FROM ${table} WHERE pk = $1 AND id = ANY ($2::text[])`;
  const rows = await session.query<[id: string, ...ItemRow]>(sql, [partitionKeyOf(pk), keys.map(({ idKey }) => idKey)]);
  const byId = new Map(rows.map(([id, etag, modifiedAt, ttl, json]) => [id, { etag, modifiedAt, ttl, json }]));
  return keys.map(({ idKey }) => {
    const row = byId.get(idKey);
    return row && { pk, idKey, ...row };
  });
}

/** Row by row through the index (`OFFSET 0` keeps it so): a plan created while the table was small would read all of it forever. */
async function readOfMany(
  session: Session,
  table: string,
  keys: readonly StoredKey[],
): Promise<(StoredItem | undefined)[]> {
  const rows = await session.query<[place: number, ...ItemRow]>(
    `SELECT k.place, t.etag, t.modified_at, t.ttl, t.doc FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (pk, id, place)
     CROSS JOIN LATERAL (SELECT etag, modified_at, ttl, doc FROM ${table} WHERE pk = k.pk AND id = k.id OFFSET 0) AS t`,
    [keys.map(({ pk }) => partitionKeyOf(pk)), keys.map(({ idKey }) => idKey)],
  );
  const byPlace = new Map(rows.map(([place, etag, modifiedAt, ttl, json]) => [place, { etag, modifiedAt, ttl, json }]));
  return keys.map(({ pk, idKey }, i) => {
    const row = byPlace.get(i + 1);
    return row && { pk, idKey, ...row };
  });
}
