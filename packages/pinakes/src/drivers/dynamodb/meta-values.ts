/** Random values that belong to the whole database, each made once, by the first process that needs it. */
import { randomBytes } from "node:crypto";
import { invariant } from "../../domain/invariant.ts";
import type { Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import { describeTable } from "./schema.ts";

/** With it cursors and session tokens are signed. */
export function readSigningKey(dynamo: Dynamo, meta: string): Promise<Uint8Array> {
  return readOrMake(dynamo, meta, "signing-key", 32);
}

/**
 * Tells this database from every other, also from one of the same prefix elsewhere. It is kept under the service's own id of the
 * table, which a copy restored from a backup does not share: the copy makes one for itself.
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
