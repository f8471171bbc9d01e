/** Tables and their indexes (GSIs): created, changed one at a time as the service requires, and waited for. */
import type {
  AttributeDefinition,
  CreateTableCommandInput,
  GlobalSecondaryIndex,
  TableDescription,
} from "@aws-sdk/client-dynamodb";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import { expiryIndex } from "./rows.ts";
import { backoffMs, idle } from "./waiting.ts";

/** An index in the table. Its number is never reused, so that a redefined index is a new one. */
export interface TableIndex {
  readonly gsi: string;
  readonly id: number | "expiry";
}

export function indexGsi(name: string, id: number): TableIndex {
  return { gsi: `${name}.${id}`, id };
}

export const expiryGsi: TableIndex = { gsi: expiryIndex, id: "expiry" };

export function checkPrefix(prefix: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{2,149}$/.test(prefix)) return prefix;
  throw invalid(
    `prefix: names the tables, so it must be 3–150 letters, digits, ".", "_" or "-"; got ${JSON.stringify(prefix)}.`,
  );
}

export function containerTable(prefix: string, container: string): string {
  return `${prefix}.${container}`;
}

/** No container can have this name: their names contain no "_". */
export function metaTable(prefix: string): string {
  return `${prefix}._meta`;
}

export async function createContainerTable(
  dynamo: Dynamo,
  table: string,
  indexes: readonly TableIndex[],
  signal: AbortSignal,
): Promise<TableDescription> {
  return createTable(dynamo, signal, {
    TableName: table,
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
    AttributeDefinitions: [
      { AttributeName: "pk", AttributeType: "S" },
      { AttributeName: "sk", AttributeType: "S" },
      ...indexes.flatMap(attributesOf),
    ],
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes.map(describeIndex) }),
  });
}

export async function createMetaTable(dynamo: Dynamo, table: string, signal: AbortSignal): Promise<void> {
  await createTable(dynamo, signal, {
    TableName: table,
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  });
}

/** Several processes may do this at once: the second waits for the first one's table. */
async function createTable(
  dynamo: Dynamo,
  signal: AbortSignal,
  input: CreateTableCommandInput,
): Promise<TableDescription> {
  const table = input.TableName as string;
  if ((await describeTable(dynamo, table)) !== undefined) return whenActive(dynamo, table, signal);
  try {
    await dynamo.repeat(`create table ${table}`, (api) =>
      api.createTable({ ...input, BillingMode: "PAY_PER_REQUEST" }),
    );
  } catch (error) {
    if (errorName(error) !== "ResourceInUseException") throw error;
  }
  return whenActive(dynamo, table, signal);
}

export async function describeTable(dynamo: Dynamo, table: string): Promise<TableDescription | undefined> {
  try {
    return (await dynamo.repeat(`describe table ${table}`, (api) => api.describeTable({ TableName: table }))).Table;
  } catch (error) {
    if (errorName(error) === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

/** A table that was just created may not be found at once. */
const absentAttemptsMax = 50;

/** Resolves when neither the table nor an index of it is changing. */
export async function whenActive(dynamo: Dynamo, table: string, signal: AbortSignal): Promise<TableDescription> {
  for (let attempt = 0; ; attempt += 1) {
    const description = await describeTable(dynamo, table);
    const settled =
      description?.TableStatus === "ACTIVE" &&
      (description.GlobalSecondaryIndexes ?? []).every(({ IndexStatus }) => IndexStatus === "ACTIVE");
    if (settled) return description;
    if (description === undefined && attempt >= absentAttemptsMax)
      throw new PinakesError(
        "INTERNAL",
        `Table "${table}" no longer exists. Restore it, or remove its definition too.`,
      );
    if (!(await idle(10 + backoffMs(attempt), signal))) throw closing();
  }
}

/** Adds one index and waits until the service has filled it from the existing attributes. */
export async function addIndex(dynamo: Dynamo, table: string, index: TableIndex, signal: AbortSignal): Promise<void> {
  await changeIndexes(dynamo, table, signal, {
    AttributeDefinitions: attributesOf(index),
    GlobalSecondaryIndexUpdates: [{ Create: describeIndex(index) }],
  });
}

export async function removeIndex(dynamo: Dynamo, table: string, gsi: string, signal: AbortSignal): Promise<void> {
  await changeIndexes(dynamo, table, signal, { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: gsi } }] });
}

type IndexChange = Omit<Parameters<Dynamo["api"]["updateTable"]>[0], "TableName">;

async function changeIndexes(dynamo: Dynamo, table: string, signal: AbortSignal, change: IndexChange): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    await whenActive(dynamo, table, signal);
    try {
      await dynamo.repeat(`change an index of table ${table}`, (api) =>
        api.updateTable({ TableName: table, ...change }),
      );
      await whenActive(dynamo, table, signal);
      return;
    } catch (error) {
      // The service changes one index of a table at a time; another process may have started one.
      if (errorName(error) !== "ResourceInUseException") throw error;
      if (!(await idle(10 + backoffMs(attempt), signal))) throw closing();
    }
  }
}

function attributesOf({ id }: TableIndex): AttributeDefinition[] {
  const [hash, range, types] = placeNames(id);
  return [
    { AttributeName: hash, AttributeType: types[0] },
    { AttributeName: range, AttributeType: types[1] },
  ];
}

function describeIndex({ gsi, id }: TableIndex): GlobalSecondaryIndex {
  const [hash, range] = placeNames(id);
  return {
    IndexName: gsi,
    KeySchema: [
      { AttributeName: hash, KeyType: "HASH" },
      { AttributeName: range, KeyType: "RANGE" },
    ],
    // Rows are read from the table itself, so keys suffice. A purge also needs the partition where the key is only its hash.
    Projection:
      id === "expiry" ? { ProjectionType: "INCLUDE", NonKeyAttributes: ["o"] } : { ProjectionType: "KEYS_ONLY" },
  };
}

function placeNames(id: TableIndex["id"]): [string, string, ["S", "N"] | ["B", "B"]] {
  return id === "expiry" ? ["xp", "xs", ["S", "N"]] : [`p${id}`, `s${id}`, ["B", "B"]];
}

export function closing(): PinakesError {
  return new PinakesError("UNAVAILABLE", "The item store is closing.", { retryable: false });
}
