/** Random values that belong to the whole database, each created once, by the first process that needs it. */
import { randomBytes } from "node:crypto";
import { invariant } from "../../domain/invariant.ts";
import type { Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import { describeTable } from "./schema.ts";

/** Signs cursors and session tokens. */
export function readSigningKey(dynamo: Dynamo, meta: string): Promise<Uint8Array> {
  return readOrMake(dynamo, meta, "signing-key", 32);
}

/**
 * Distinguishes this database from every other, also from one with the same prefix elsewhere. Stored under the service's own id of the
 * table, which a copy restored from a backup does not share: the copy creates one for itself.
 */
export async function readDatabaseId(dynamo: Dynamo, meta: string): Promise<string> {
  const table = (await describeTable(dynamo, meta))?.TableId ?? "";
  return Buffer.from(await readOrMake(dynamo, meta, `database-id#${table}`, 16)).toString("hex");
}

async function readOrMake(dynamo: Dynamo, meta: string, name: string, bytes: number): Promise<Uint8Array> {
  const pk = { S: name };
  try {
    await dynamo.repeat(`keep the ${name}`, (api) =>
      api.putItem({
        TableName: meta,
        Item: { pk, key: { B: randomBytes(bytes) } },
        ConditionExpression: "attribute_not_exists(pk)",
      }),
    );
  } catch (error) {
    if (errorName(error) !== "ConditionalCheckFailedException") throw error;
  }
  const { Item } = await dynamo.repeat(`read the ${name}`, (api) =>
    api.getItem({ TableName: meta, Key: { pk }, ConsistentRead: true }),
  );
  const key = Item?.["key"]?.B;
  invariant(key !== undefined, "CORRUPT", `Table "${meta}" has no ${name}.`);
  return key;
}
