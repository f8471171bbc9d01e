/** Point reads. */
import type { StoredItem, StoredKey, StoredRawItem } from "../../items/item-engine.ts";
import type { Loaded } from "./catalog.ts";
import type { Session } from "./connection.ts";
import { partitionKeyOf } from "./names.ts";

type ItemRow = [etag: string, modifiedAt: number, ttl: number | null, json: string];

export async function readItem(session: Session, { table }: Loaded, { pk, idKey }: StoredKey): Promise<StoredItem | undefined> {
  const [row] = await session.query<ItemRow>(`SELECT etag, modified_at, ttl, doc FROM ${table} WHERE pk = $1 AND id = $2`, [partitionKeyOf(pk), idKey]);
  if (row === undefined) return undefined;
  const [etag, modifiedAt, ttl, json] = row;
  return { pk, idKey, etag, modifiedAt, ttl, json };
}

/** pg decodes every value to text before we see it, so the bytes are made again here: still no JSON is parsed. */
export async function readRawItem(session: Session, loaded: Loaded, key: StoredKey): Promise<StoredRawItem | undefined> {
  const item = await readItem(session, loaded, key);
  return item && { etag: item.etag, modifiedAt: item.modifiedAt, ttl: item.ttl, bytes: Buffer.from(item.json, "utf8") };
}

export async function readItems(session: Session, { table }: Loaded, keys: readonly StoredKey[]): Promise<(StoredItem | undefined)[]> {
  if (keys.length === 0) return [];
  const rows = await session.query<[place: number, ...ItemRow]>(
    `SELECT k.place, t.etag, t.modified_at, t.ttl, t.doc FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (pk, id, place) JOIN ${table} t ON t.pk = k.pk AND t.id = k.id`,
    [keys.map(({ pk }) => partitionKeyOf(pk)), keys.map(({ idKey }) => idKey)],
  );
  const byPlace = new Map(rows.map(([place, etag, modifiedAt, ttl, json]) => [place, { etag, modifiedAt, ttl, json }]));
  return keys.map(({ pk, idKey }, i) => {
    const row = byPlace.get(i + 1);
    return row && { pk, idKey, ...row };
  });
}
