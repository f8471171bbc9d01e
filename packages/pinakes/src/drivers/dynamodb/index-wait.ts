/**
 * Waiting until an index shows what was written. DynamoDB updates its indexes after the write; a session token asks to wait for it.
 *
 * Only the newest state counts: an item that is gone, expired, or no longer in the index needs no waiting, since a scan checks every row
 * against the table anyway.
 */
import { PinakesError } from "../../domain/errors.ts";
import { isExpired } from "../../domain/ttl.ts";
import type { StoredKey } from "../../items/item-engine.ts";
import { keyOf, keyText, type Attributes, type Dynamo } from "./client.ts";
import type { Definition } from "./definitions.ts";
import { ageOf, rowKey } from "./rows.ts";
import type { IndexInTable } from "./index-state.ts";
import { backoffMs, mapLimited, monotonicMs, sleep } from "./waiting.ts";

const queriesInParallel = 16;

export async function awaitIndex(
  dynamo: Dynamo,
  definition: Definition,
  index: IndexInTable,
  keys: readonly StoredKey[],
  now: number,
  waitMsMax: number,
): Promise<void> {
  const deadline = monotonicMs() + waitMsMax;
  let waiting: readonly StoredKey[] = keys;
  for (let attempt = 0; ; attempt += 1) {
    waiting = await notShown(dynamo, definition, index, waiting, now);
    if (waiting.length === 0) return;
    if (monotonicMs() >= deadline) {
      throw new PinakesError(
        "UNAVAILABLE",
        `Index "${index.name}" of container "${definition.compiled.name}" did not show ${waiting.length} of ${keys.length} writes of this session within ${waitMsMax} ms. Try again.`,
      );
    }
    await sleep(1 + backoffMs(attempt));
  }
}

/** The keys whose newest state belongs into the index and is not there yet. */
export async function notShown(
  dynamo: Dynamo,
  { table, compiled }: Definition,
  index: IndexInTable,
  keys: readonly StoredKey[],
  now: number,
): Promise<StoredKey[]> {
  const items = await dynamo.getMany(table, keys.map(rowKey), ["m", "t", index.partition, index.sort]);
  const shown = await mapLimited(keys, queriesInParallel, async (key) => {
    const item = items.get(keyText(rowKey(key)));
    if (item?.[index.partition]?.B === undefined) return true;
    const { ttl, modifiedAt } = ageOf(item);
    return isExpired(compiled.ttl, ttl, modifiedAt, now) || shows(dynamo, table, index, item);
  });
  return keys.filter((_, i) => !shown[i]);
}

async function shows(dynamo: Dynamo, table: string, index: IndexInTable, item: Attributes): Promise<boolean> {
  const { Items } = await dynamo.query({
    TableName: table,
    IndexName: index.gsi,
    KeyConditionExpression: "#p = :p AND #s = :s",
    ExpressionAttributeNames: { "#p": index.partition, "#s": index.sort },
    ExpressionAttributeValues: { ":p": item[index.partition] as never, ":s": item[index.sort] as never },
  });
  return (Items ?? []).some((found) => keyText(keyOf(found)) === keyText(keyOf(item)));
}
