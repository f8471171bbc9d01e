/**
 * How items are laid out in a container's table. Format 1 (kept in the stored definition):
 *
 * | what          | pk                          | sk                         | attributes                                   |
 * |---------------|-----------------------------|----------------------------|----------------------------------------------|
 * | item          | `p` + pk, or `h` + its hash | `i` + idKey                | below                                        |
 * | unique value  | as the item                 | `u` + name + `#` + hash    | h: idKey of the holder                       |
 * | feed counter  | `f` + tenant + `#` + shard  | `c`                        | n: last number, x: last number forgotten     |
 * | feed entry    | as the counter              | `l` + 16 digits            | a: time, n: number of changes, c: changes    |
 * | feed registry | `r`                         | tenant + `#` + shard       |                                              |
 *
 * An item: e etag, m modified_at, t its own ttl, d the document's text or b where that went (spill.ts), q its unique values,
 * o the pk where only a hash of it is the key, xp and xs its place in the index of expiries, p<n> and s<n> its place in index n.
 * Writes replace whole items, so an attribute of an index that is gone goes with the next write.
 */
import { createHash } from "node:crypto";
import { invariant } from "../../domain/invariant.ts";
import { utf8Bytes, withinUtf8Bytes } from "../../domain/json.ts";
import type { StoredItem, StoredKey } from "../../items/item-engine.ts";
import type { PlannedWrite } from "../../items/plan-batch.ts";
import type { Attributes, TableKey } from "./client.ts";
import type { Definition } from "./definitions.ts";
import { serviceLimits } from "./service-limits.ts";

export type PlannedPut = NonNullable<PlannedWrite["put"]>;

/** The location of a document that was too large for its item. */
export interface BlobRef {
  readonly key: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** An item as read; its document may still be in the object store. */
export interface Row extends StoredKey {
  readonly etag: string;
  readonly modifiedAt: number;
  readonly ttl: number | null;
  readonly json: string | undefined;
  readonly blob: BlobRef | undefined;
  readonly uniques: readonly (string | null)[];
  readonly item: Attributes;
}

export type Body = { readonly json: string } | { readonly blob: BlobRef };

export const expiryIndex = "_ttl";
export const expiryShards = 8;

/** Three partition values of 1,024 bytes exceed the limit of a key: long ones are hashed, and the item keeps the text. */
export function partitionKeyOf(pk: string): string {
  return withinUtf8Bytes(pk, serviceLimits.hashKeyBytesMax - 1)
    ? `p${pk}`
    : `h${createHash("sha256").update(pk).digest("hex")}`;
}

export function rowKey({ pk, idKey }: StoredKey): TableKey {
  return { pk: partitionKeyOf(pk), sk: `i${idKey}` };
}

export function storedKeyOf(item: Attributes): StoredKey {
  return { pk: item["o"]?.S ?? (item["pk"]?.S ?? "").slice(1), idKey: (item["sk"]?.S ?? "").slice(1) };
}

export function encodeRow({ compiled, indexIds }: Definition, pk: string, put: PlannedPut, body: Body): Attributes {
  const key = rowKey({ pk, idKey: put.idKey });
  const item: Attributes = {
    pk: { S: key.pk },
    sk: { S: key.sk },
    e: { S: put.etag },
    m: { N: String(put.modifiedAt) },
  };
  if (key.pk.startsWith("h")) item["o"] = { S: pk };
  if (put.ttl !== null) item["t"] = { N: String(put.ttl) };
  if ("json" in body) item["d"] = { S: body.json };
  else item["b"] = { S: JSON.stringify(body.blob) };
  if (put.uniques.some((value) => value !== null)) item["q"] = { S: JSON.stringify(put.uniques) };
  Object.assign(item, expiryPlace(put, key));
  invariant(
    put.version === compiled.version && put.keys.length === indexIds.length,
    "INTERNAL",
    "the document was prepared for another version of its container",
  );
  put.keys.forEach((indexKey, i) => {
    if (indexKey !== null) Object.assign(item, indexPlace(indexIds[i] as number, indexKey.partition, indexKey.sort));
  });
  return item;
}

export function indexPlace(id: number, partition: Uint8Array, sort: Uint8Array): Attributes {
  invariant(
    partition.byteLength <= serviceLimits.hashKeyBytesMax,
    "LIMIT_EXCEEDED",
    `An index's partition key has ${partition.byteLength} bytes; DynamoDB accepts ${serviceLimits.hashKeyBytesMax}.`,
  );
  invariant(
    sort.byteLength <= serviceLimits.sortKeyBytesMax,
    "LIMIT_EXCEEDED",
    `An index's sort key has ${sort.byteLength} bytes; DynamoDB accepts ${serviceLimits.sortKeyBytesMax}.`,
  );
  return { [`p${id}`]: { B: partition }, [`s${id}`]: { B: sort } };
}

/**
 * Items are found for their purge by their own expiry, or by their last change where the container's default applies, spread over shards so
 * that no index partition is hot. Written even while the container's ttl is off: switching it on then only needs the index.
 */
function expiryPlace({ ttl, modifiedAt }: PlannedPut, key: TableKey): Attributes {
  if (ttl === -1) return {};
  const shard = (createHash("sha256").update(key.pk).update("\0").update(key.sk).digest()[0] as number) % expiryShards;
  if (ttl === null) return { xp: { S: `def#${shard}` }, xs: { N: String(modifiedAt) } };
  return { xp: { S: `own#${shard}` }, xs: { N: String(modifiedAt + ttl * 1000) } };
}

export function decodeRow(item: Attributes): Row {
  const etag = item["e"]?.S;
  const json = item["d"]?.S;
  const blob = item["b"]?.S;
  invariant(
    etag !== undefined && item["m"]?.N !== undefined && (json === undefined) !== (blob === undefined),
    "CORRUPT",
    `the item ${JSON.stringify(storedKeyOf(item))} lacks its etag, time or document`,
  );
  return {
    ...storedKeyOf(item),
    etag,
    modifiedAt: Number(item["m"].N),
    ttl: ttlOf(item),
    json,
    blob: blob === undefined ? undefined : (JSON.parse(blob) as BlobRef),
    uniques: item["q"]?.S === undefined ? [] : (JSON.parse(item["q"].S) as (string | null)[]),
    item,
  };
}

/** The attributes that time to live needs, also of an item that was read with only some of them. */
export function ageOf(item: Attributes): { ttl: number | null; modifiedAt: number } {
  return { ttl: ttlOf(item), modifiedAt: Number(item["m"]?.N) };
}

function ttlOf(item: Attributes): number | null {
  return item["t"]?.N === undefined ? null : Number(item["t"].N);
}

export function toStoredItem({ pk, idKey, etag, modifiedAt, ttl }: Row, json: string): StoredItem {
  return { pk, idKey, etag, modifiedAt, ttl, json };
}

export function uniqueKey(pk: string, name: string, value: string): TableKey {
  return { pk: partitionKeyOf(pk), sk: `u${name}#${createHash("sha256").update(value).digest("hex")}` };
}

/** Computed like the service: names and values in UTF-8. Numbers are slightly overestimated. */
export function itemBytes(item: Attributes): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + utf8Bytes(name) + (value.B?.byteLength ?? utf8Bytes(value.S ?? value.N ?? "") + 1),
    0,
  );
}
