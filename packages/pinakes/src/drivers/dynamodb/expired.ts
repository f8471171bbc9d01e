/** Expired rows, by the index of expiries (rows.ts). It may be late and name deleted rows: the purge checks again. */
import type { Attributes, Dynamo } from "./client.ts";
import type { Definition } from "./definitions.ts";
import type { StoredKey } from "../../items/item-engine.ts";
import { expiryIndex, expiryShards, storedKeyOf } from "./rows.ts";
import { mapLimited } from "./waiting.ts";

interface Due {
  readonly key: StoredKey;
  readonly at: number;
}

const queriesInParallel = 8;

export async function findExpired(
  dynamo: Dynamo,
  { table, compiled, stored }: Definition,
  now: number,
  limit: number,
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
    dueAt(dynamo, table, place, now - delay, delay, limit),
  );
  return found
    .flat()
    .toSorted((a, b) => a.at - b.at)
    .slice(0, limit)
    .map(({ key }) => key);
}

async function dueAt(
  dynamo: Dynamo,
  table: string,
  place: string,
  until: number,
  delay: number,
  limit: number,
): Promise<Due[]> {
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
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    });
    due.push(...(page.Items ?? []).map((item) => ({ key: storedKeyOf(item), at: Number(item["xs"]?.N) + delay })));
    start = page.LastEvaluatedKey;
  }
  return due;
}
