/** Trimming old feed entries, of all tenants, a bounded number of shards at a time. */
import { PinakesError } from "../../domain/errors.ts";
import { keyOf, toKey, type Attributes, type Dynamo, type TableKey } from "./client.ts";
import { errorName } from "./errors.ts";
import { entryNumber, registryPk } from "./feed.ts";
import { serviceLimits } from "./service-limits.ts";
import { backoffMs, sleep } from "./waiting.ts";

/** The most that one call examines; the next call continues after it. */
const shardsPerCallMax = 512;
const entriesPerReadMax = 200;
const deleteAttemptsMax = 10;

export class FeedTrimmer {
  readonly #dynamo: Dynamo;
  /** By table: the last shard examined. */
  readonly #reached = new Map<string, string>();

  constructor(dynamo: Dynamo) {
    this.#dynamo = dynamo;
  }

  /** A commit is trimmed as a whole, so the last one may exceed the limit if it is the only one. */
  async trim(table: string, before: number, limit: number): Promise<number> {
    let count = 0;
    for (const shard of await this.#nextShards(table)) {
      while (count < limit) {
        const { forgotten, more } = await this.#trimShard(table, `f${shard}`, before, limit - count, count === 0);
        count += forgotten;
        if (!more) break;
      }
      // The next call starts with a shard that the limit interrupted.
      if (count >= limit) break;
      this.#reached.set(table, shard);
    }
    return count;
  }

  async #nextShards(table: string): Promise<string[]> {
    const after = this.#reached.get(table);
    const { Items, LastEvaluatedKey } = await this.#dynamo.query({
      TableName: table,
      KeyConditionExpression: "pk = :pk AND sk > :after",
      ExpressionAttributeValues: { ":pk": { S: registryPk }, ":after": { S: after ?? "!" } },
      Limit: shardsPerCallMax,
    });
    const shards = (Items ?? []).map((item) => item["sk"]?.S as string);
    if (LastEvaluatedKey !== undefined) return shards;
    this.#reached.delete(table);
    // At the end of the list it starts over in the same call, so that a short list is always examined as a whole.
    return after === undefined
      ? shards
      : [...shards, ...(await this.#nextShards(table)).filter((shard) => !shards.includes(shard))];
  }

  async #trimShard(
    table: string,
    pk: string,
    before: number,
    limit: number,
    atLeastOne: boolean,
  ): Promise<{ forgotten: number; more: boolean }> {
    const { Items = [] } = await this.#dynamo.query({
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :l)",
      ExpressionAttributeNames: { "#n": "n", "#a": "a" },
      ExpressionAttributeValues: { ":pk": { S: pk }, ":l": { S: "l" } },
      ProjectionExpression: "pk, sk, #n, #a",
      Limit: entriesPerReadMax,
    });
    const old: Attributes[] = [];
    let forgotten = 0;
    for (const item of Items) {
      const changes = Number(item["n"]?.N);
      // Times of different processes need not be in order: what follows an entry that stays, stays too.
      if (Number(item["a"]?.N) >= before) break;
      if (forgotten + changes > limit && !(atLeastOne && old.length === 0)) break;
      old.push(item);
      forgotten += changes;
    }
    const last = old.at(-1);
    if (last === undefined) return { forgotten, more: false };
    await this.#raise({ pk, sk: "c" }, table, entryNumber(last));
    for (let i = 0; i < old.length; i += serviceLimits.batchWriteItemsMax)
      await this.#delete(table, old.slice(i, i + serviceLimits.batchWriteItemsMax));
    return { forgotten, more: old.length === Items.length && Items.length === entriesPerReadMax };
  }

  async #raise(key: TableKey, table: string, number: number): Promise<void> {
    try {
      await this.#dynamo.repeat("trim the feed", (api) =>
        api.updateItem({
          TableName: table,
          Key: toKey(key),
          UpdateExpression: "SET #x = :x",
          ConditionExpression: "attribute_not_exists(#x) OR #x < :x",
          ExpressionAttributeNames: { "#x": "x" },
          ExpressionAttributeValues: { ":x": { N: String(number) } },
        }),
      );
    } catch (error) {
      // Another process has already trimmed as much; this one deletes what is left.
      if (errorName(error) !== "ConditionalCheckFailedException") throw error;
    }
  }

  async #delete(table: string, items: readonly Attributes[]): Promise<void> {
    let requests = items.map((item) => ({ DeleteRequest: { Key: toKey(keyOf(item)) } }));
    for (let attempt = 0; requests.length > 0; attempt += 1) {
      const asked = requests;
      const { UnprocessedItems } = await this.#dynamo.repeat("trim the feed", (api) =>
        api.batchWriteItem({ RequestItems: { [table]: asked } }),
      );
      requests = (UnprocessedItems?.[table] ?? []) as typeof requests;
      if (requests.length > 0 && attempt >= deleteAttemptsMax)
        throw new PinakesError(
          "UNAVAILABLE",
          "DynamoDB is throttling deletes of this table. The rest is trimmed next time.",
        );
      if (requests.length > 0) await sleep(backoffMs(attempt + 2));
    }
  }
}
