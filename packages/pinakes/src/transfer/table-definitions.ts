/**
 * The reference project's tables as DynamoDB defines them: keys, indexes, time to live, billing mode and point-in-time recovery. Twice: as
 * input of `CreateTable` and the calls after it, and as a CloudFormation template.
 */
import type { JsonObject } from "../domain/json.ts";
import type { TransferFile } from "./files.ts";
import { definitionsFolder, type TransferNames } from "./names.ts";

interface Key {
  readonly name: string;
  readonly type: "S" | "N";
}

interface Table {
  readonly name: string;
  readonly keys: readonly [Key, Key?];
  readonly indexes: readonly { readonly name: string; readonly keys: readonly [Key, Key?] }[];
  /** Seconds since 1970; the item goes some time after. */
  readonly ttl?: string;
}

/** Days back to which every second can be restored. */
const recoveryDays = 35;

const text = (name: string): Key => ({ name, type: "S" });

function tablesOf(names: TransferNames): readonly Table[] {
  return [
    { name: names.storesTable, keys: [text("repositoryId")], indexes: [] },
    {
      name: names.collectionsTable,
      keys: [text("collectionId"), text("repositoryId")],
      indexes: [
        { name: "RepositoryIndex", keys: [text("repositoryId"), text("createdAt")] },
        { name: "StatusIndex", keys: [text("repositoryId"), text("status")] },
        { name: "CreatorIndex", keys: [text("createdBy"), text("createdAt")] },
      ],
      ttl: "deletedAt",
    },
    {
      name: names.documentsTable,
      keys: [text("pk"), text("document_id")],
      indexes: [{ name: "CollectionIndex", keys: [text("collectionId"), { name: "upload_date", type: "N" }] }],
    },
  ];
}

export function* definitionFiles(names: TransferNames): Generator<TransferFile> {
  const tables = tablesOf(names);
  const files = {
    "tables.json": { tables: tables.map(definitionOf) },
    "cloudformation.json": templateOf(tables),
  };
  for (const [name, content] of Object.entries(files))
    yield { path: `${definitionsFolder}/${name}`, body: bytesOf(`${JSON.stringify(content, undefined, 2)}\n`) };
}

/** What both forms share. */
function schemaOf({ name, keys, indexes }: Table): JsonObject {
  const all = [...keys, ...indexes.flatMap((index) => [...index.keys])].filter((key) => key !== undefined);
  const attributes = new Map(all.map((key) => [key.name, key.type]));
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...attributes].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: keySchema(keys),
    ...(indexes.length === 0
      ? {}
      : {
          GlobalSecondaryIndexes: indexes.map((index) => ({
            IndexName: index.name,
            KeySchema: keySchema(index.keys),
            Projection: { ProjectionType: "ALL" },
          })),
        }),
  };
}

function keySchema([partition, sort]: Table["keys"]): JsonObject[] {
  return [
    { AttributeName: partition.name, KeyType: "HASH" },
    ...(sort === undefined ? [] : [{ AttributeName: sort.name, KeyType: "RANGE" }]),
  ];
}

const recovery = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: recoveryDays };

function timeToLive({ ttl }: Table): JsonObject {
  return ttl === undefined ? {} : { TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } };
}

/** Input of CreateTable; then of UpdateTimeToLive and UpdateContinuousBackups, which take the table's name as well. */
function definitionOf(table: Table): JsonObject {
  return {
    CreateTable: schemaOf(table),
    ...(table.ttl === undefined ? {} : { UpdateTimeToLive: { TableName: table.name, ...timeToLive(table) } }),
    UpdateContinuousBackups: { TableName: table.name, PointInTimeRecoverySpecification: recovery },
  };
}

function templateOf(tables: readonly Table[]): JsonObject {
  const resources = tables.map((table) => [
    table.name.replaceAll(/[^A-Za-z0-9]/g, ""),
    {
      Type: "AWS::DynamoDB::Table",
      // Data outlives its stack.
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: { ...schemaOf(table), ...timeToLive(table), PointInTimeRecoverySpecification: recovery },
    },
  ]);
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Description: "The tables of an export of Pinakes.",
    Resources: Object.fromEntries(resources) as JsonObject,
  };
}

async function* bytesOf(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content, "utf8");
}
