/**
 * Removes what erased items left in the feed. Numbers of a shard have no gaps, so an entry stays, without the changes of these items; where
 * none remain it names no partition any more.
 */
import type { StoredKey } from "../../items/item-engine.ts";
import { idKeyOf } from "../../items/id-key.ts";
import { toKey, type Attributes, type Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import { shardOf, shardPk, type EntryBody } from "./feed.ts";

export async function forgetFeed(
  dynamo: Dynamo,
  table: string,
  tenant: string,
  keys: readonly StoredKey[],
): Promise<number> {
  const wanted = new Set(keys.map(({ pk, idKey }) => JSON.stringify([pk, idKey])));
  const shards = new Set(keys.map(({ pk }) => shardOf(pk)));
  let forgotten = 0;
  for (const shard of shards) {
    for (let start: Attributes | undefined, first = true; first || start !== undefined; first = false) {
      const page = await dynamo.query({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :l)",
        ExpressionAttributeValues: { ":pk": { S: shardPk(tenant, shard) }, ":l": { S: "l" } },
        ExclusiveStartKey: start,
      });
      for (const item of page.Items ?? []) forgotten += await forgetIn(dynamo, table, item, wanted);
      start = page.LastEvaluatedKey;
    }
  }
  return forgotten;
}

async function forgetIn(dynamo: Dynamo, table: string, item: Attributes, wanted: ReadonlySet<string>): Promise<number> {
  const text = item["c"]?.S ?? "";
  const { pk, c } = JSON.parse(text) as EntryBody;
  const kept = c.filter(([, id]) => !wanted.has(JSON.stringify([pk, idKeyOf(id)])));
  if (kept.length === c.length) return 0;
  const body: EntryBody = { pk: kept.length === 0 ? "" : pk, c: kept };
  try {
    await dynamo.repeat("forget a feed entry", (api) =>
      api.updateItem({
        TableName: table,
        Key: toKey({ pk: item["pk"]?.S ?? "", sk: item["sk"]?.S ?? "" }),
        UpdateExpression: "SET #c = :new, #n = :n",
        ConditionExpression: "#c = :old",
        ExpressionAttributeNames: { "#c": "c", "#n": "n" },
        ExpressionAttributeValues: {
          ":new": { S: JSON.stringify(body) },
          ":old": { S: text },
          ":n": { N: String(kept.length) },
        },
      }),
    );
  } catch (error) {
    // Trimmed meanwhile, or an answer was lost and this is the repetition.
    if (errorName(error) !== "ConditionalCheckFailedException") throw error;
  }
  return c.length - kept.length;
}
