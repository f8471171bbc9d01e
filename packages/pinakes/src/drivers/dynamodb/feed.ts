/**
 * The change feed of a container: a log per tenant, in shards so that commits of different partitions seldom conflict.
 *
 * Invariants
 * - a commit writes one entry, in its own transaction, under the next number: numbers of a shard have no gaps;
 * - a partition belongs to one shard, so the order of a shard is the order of each of its partitions;
 * - the counter records what was trimmed before anything is deleted, so a position before a gap is recognised.
 *
 * A reader that misses an untrimmed number has met a transaction that is not visible yet: it stops there and retries later; it never
 * continues past it.
 */
import { createHash } from "node:crypto";
import { invariant } from "../../domain/invariant.ts";
import { utf8Bytes } from "../../domain/json.ts";
import { feedTrimmed, type FeedChange, type FeedPage, type FeedRequest } from "../../items/item-engine.ts";
import { idKeyOf } from "../../items/id-key.ts";
import type { PlannedChange } from "../../items/plan-batch.ts";
import type { Action } from "./actions.ts";
import { keyText, toKey, type Attributes, type Dynamo, type TableKey } from "./client.ts";
import { serviceLimits } from "./service-limits.ts";

export const feedShards = 8;
export const registryPk = "r";

const entriesPerPageMax = 100;

/** The counter of a shard, as read. */
export interface FeedHead {
  readonly shard: number;
  readonly tenant: string;
  readonly last: number | undefined;
}

interface Entry {
  readonly number: number;
  readonly changes: readonly FeedChange[];
}

/** Contents of a commit's entry: the partition once, and kind, id, etag, time and expiry of each change. */
export interface EntryBody {
  readonly pk: string;
  readonly c: readonly (readonly ["p" | "d", string, string, number, 0 | 1])[];
}

/**
 * Per shard: the last number that was read completely, and how many changes of the next entry were read. `s` is the shard to start with.
 */
interface Position {
  readonly s: number;
  readonly n: readonly (readonly [number, number])[];
}

export function shardOf(pk: string): number {
  return (createHash("sha256").update(pk).digest()[0] as number) % feedShards;
}

export function shardPk(tenant: string, shard: number): string {
  return `f${tenant}#${shard}`;
}

export function counterKey(tenant: string, shard: number): TableKey {
  return { pk: shardPk(tenant, shard), sk: "c" };
}

export function entrySk(number: number): string {
  return `l${String(number).padStart(16, "0")}`;
}

export function entryNumber(item: Attributes): number {
  return Number(item["sk"]?.S?.slice(1));
}

export function headOf(tenant: string, pk: string, counter: Attributes | undefined): FeedHead {
  return { shard: shardOf(pk), tenant, last: counter?.["n"]?.N === undefined ? undefined : Number(counter["n"].N) };
}

export function feedActions(
  { shard, tenant, last }: FeedHead,
  pk: string,
  at: number,
  changes: readonly PlannedChange[],
): Action[] {
  if (changes.length === 0) return [];
  const number = (last ?? 0) + 1;
  const body: EntryBody = {
    pk,
    c: changes.map(({ kind, id, etag, at: time, expired }) => [
      kind === "put" ? "p" : "d",
      id,
      etag,
      time,
      expired ? 1 : 0,
    ]),
  };
  const text = JSON.stringify(body);
  invariant(
    utf8Bytes(text) < serviceLimits.itemInlineBytesMax,
    "INTERNAL",
    "the feed entry of a commit does not fit into one item",
  );
  const entry = {
    ...toKey({ pk: shardPk(tenant, shard), sk: entrySk(number) }),
    a: { N: String(at) },
    n: { N: String(changes.length) },
    c: { S: text },
  };
  // With its first entry a shard is added to the list that trimming walks.
  const registered: Action[] =
    last === undefined ? [{ do: "put", item: toKey({ pk: registryPk, sk: `${tenant}#${shard}` }) }] : [];
  return [
    { do: "set", key: counterKey(tenant, shard), attribute: "n", number, if: { attribute: "n", value: last } },
    { do: "put", item: entry, if: { attribute: "pk", value: undefined } },
    ...registered,
  ];
}

export async function readFeed(
  dynamo: Dynamo,
  table: string,
  container: string,
  { tenant, position, limit }: FeedRequest,
): Promise<FeedPage> {
  const counters = await readCounters(dynamo, table, tenant);
  if (position === "now")
    return {
      changes: [],
      position: JSON.stringify({ s: 0, n: counters.map(({ last }) => [last, 0]) } satisfies Position),
      more: false,
    };
  const from: Position =
    position === undefined
      ? { s: 0, n: counters.map(({ forgotten }) => [forgotten, 0]) }
      : (JSON.parse(position) as Position);
  invariant(from.n.length === feedShards, "INTERNAL", "the feed position belongs to another number of shards");
  if (counters.some(({ forgotten }, shard) => (from.n[shard]?.[0] ?? 0) < forgotten)) throw feedTrimmed(container);
  const reached = from.n.map(([number, offset]) => [number, offset] as [number, number]);
  const changes: FeedChange[] = [];
  let last = from.s;
  for (let turn = 0; turn < feedShards && changes.length < limit; turn += 1) {
    // Shards take turns at going first, so that a busy one does not starve the others.
    last = (from.s + turn) % feedShards;
    const at = reached[last] as [number, number];
    if ((counters[last]?.last ?? 0) <= at[0]) continue;
    changes.push(...(await readShard(dynamo, table, container, tenant, last, at, limit - changes.length)));
  }
  const more = reached.some(([number], shard) => number < (counters[shard]?.last ?? 0));
  return { changes, position: JSON.stringify({ s: (last + 1) % feedShards, n: reached } satisfies Position), more };
}

/** Up to `limit` changes of one shard; moves `at` past what it returns. */
async function readShard(
  dynamo: Dynamo,
  table: string,
  container: string,
  tenant: string,
  shard: number,
  at: [number, number],
  limit: number,
): Promise<FeedChange[]> {
  const changes: FeedChange[] = [];
  for (;;) {
    const entries = await readEntries(
      dynamo,
      table,
      tenant,
      shard,
      at[0] + 1,
      Math.min(entriesPerPageMax, limit - changes.length),
    );
    for (const { number, changes: all } of entries) {
      if (number !== at[0] + 1) {
        const [counter] = await readCounters(dynamo, table, tenant, [shard]);
        if ((counter?.forgotten ?? 0) > at[0]) throw feedTrimmed(container);
        return changes;
      }
      const taken = all.slice(at[1], at[1] + limit - changes.length);
      changes.push(...taken);
      if (at[1] + taken.length < all.length) {
        at[1] += taken.length;
        return changes;
      }
      [at[0], at[1]] = [number, 0];
      if (changes.length === limit) return changes;
    }
    if (entries.length === 0) return changes;
  }
}

async function readEntries(
  dynamo: Dynamo,
  table: string,
  tenant: string,
  shard: number,
  first: number,
  limit: number,
): Promise<Entry[]> {
  const { Items } = await dynamo.query({
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
    ExpressionAttributeValues: {
      ":pk": { S: shardPk(tenant, shard) },
      ":from": { S: entrySk(first) },
      ":to": { S: "l~" },
    },
    Limit: limit,
  });
  return (Items ?? []).map((item) => {
    const { pk, c } = JSON.parse(item["c"]?.S ?? "") as EntryBody;
    const changes = c.map(([kind, id, etag, at, expired]): FeedChange => ({
      kind: kind === "p" ? "put" : "delete",
      pk,
      idKey: idKeyOf(id),
      id,
      etag,
      at,
      expired: expired === 1,
    }));
    return { number: entryNumber(item), changes };
  });
}

async function readCounters(
  dynamo: Dynamo,
  table: string,
  tenant: string,
  shards = Array.from({ length: feedShards }, (_, i) => i),
): Promise<{ last: number; forgotten: number }[]> {
  const keys = shards.map((shard) => counterKey(tenant, shard));
  const found = await dynamo.getMany(table, keys);
  return keys.map((key) => {
    const counter = found.get(keyText(key));
    return { last: Number(counter?.["n"]?.N ?? 0), forgotten: Number(counter?.["x"]?.N ?? 0) };
  });
}
