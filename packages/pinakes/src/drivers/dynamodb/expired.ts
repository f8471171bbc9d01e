/** Expired rows, by the index of expiries (rows.ts). It may be late and name deleted rows: the purge checks again. */
import type { Attributes, Dynamo } from "./client.ts";
import type { Definition } from "./definitions.ts";
import type { StoredKey, TenantFilter } from "../../items/item-engine.ts";
import { expiryIndex, expiryShards, storedKeyOf } from "./rows.ts";
import { mapLimited } from "./waiting.ts";

interface Due {
  readonly key: StoredKey;
  readonly at: number;
}

interface DueQuery {
  readonly place: string;
  readonly until: number;
  readonly delay: number;
  readonly limit: number;
  readonly tenants: TenantFilter | undefined;
}

const queriesInParallel = 8;

export async function findExpired(
  dynamo: Dynamo,
  { table, compiled, stored }: Definition,
  now: number,
  limit: number,
  tenants?: TenantFilter,
): Promise<StoredKey[]> {
  const { ttl } = compiled;
  // Before the index exists, nothing is purged; nothing expired is visible either.
  if (ttl === null || !stored.expiryReady) return [];
  const shards = Array.from({ length: expiryShards }, (_, i) => i);
  const sources = [
    ...shards.map((shard) => ({ place: `own#${shard}`, delay: 0 })),
    ...(ttl === -1 ? [] : shards.map((shard) => ({ place: `def#${shard}`, delay: ttl * 1000 }))),
  ];
  const found = await mapLimited(sources, queriesInParallel, ({ place, delay }) =>
    dueAt(dynamo, table, { place, until: now - delay, delay, limit, tenants }),
  );
  return found
    .flat()
    .toSorted((a, b) => a.at - b.at)
    .slice(0, limit)
    .map(({ key }) => key);
}

async function dueAt(dynamo: Dynamo, table: string, { place, until, delay, limit, tenants }: DueQuery): Promise<Due[]> {
  const due: Due[] = [];
  for (
    let start: Attributes | undefined, first = true;
    first || (start !== undefined && due.length < limit);
    first = false
  ) {
    const page = await dynamo.query({
      TableName: table,
      IndexName: expiryIndex,
      KeyConditionExpression: "xp = :place AND xs <= :until",
      ExpressionAttributeValues: { ":place": { S: place }, ":until": { N: String(until) } },
      Limit: limit - due.length,
      ExclusiveStartKey: start,
    });
    for (const item of page.Items ?? []) {
      const key = storedKeyOf(item);
      if (tenants !== undefined && tenants.list.includes((JSON.parse(key.pk) as [string])[0]) !== tenants.included)
        continue;
      due.push({ key, at: Number(item["xs"]?.N) + delay });
    }
    start = page.LastEvaluatedKey;
  }
  return due;
}
