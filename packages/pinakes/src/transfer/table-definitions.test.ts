/** The definitions of the reference project's tables, taken by a server of DynamoDB's API as they are. */
import { buffer } from "node:stream/consumers";
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
  type CreateTableCommandInput,
  type UpdateTimeToLiveCommandInput,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDynamo } from "../drivers/dynamodb/test-server.ts";
import { defaultNames } from "./names.ts";
import { definitionFiles } from "./table-definitions.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

interface Definition {
  readonly CreateTable: CreateTableCommandInput & { readonly TableName: string };
  readonly UpdateTimeToLive?: UpdateTimeToLiveCommandInput;
  readonly UpdateContinuousBackups: object;
}

async function filesOf(names = defaultNames) {
  const files = new Map<string, unknown>();
  for (const { path, body } of definitionFiles(names)) files.set(path, JSON.parse(String(await buffer(body))));
  return {
    tables: (files.get("definitions/tables.json") as { tables: readonly Definition[] }).tables,
    template: files.get("definitions/cloudformation.json") as {
      Resources: Readonly<Record<string, { Type: string; Properties: Readonly<Record<string, unknown>> }>>;
    },
  };
}

describe("the tables' definitions", () => {
  let client: DynamoDBClient;
  const server = forAllTests(() => startDynamo());
  beforeAll(async () => {
    client = new DynamoDBClient({
      region: "local",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      endpoint: server.endpoint,
    });
  });
  afterAll(async () => {
    client?.destroy();
  });

  it("make the tables with the keys and indexes of the reference document, on demand, with its time to live", async () => {
    const { tables } = await filesOf();
    for (const { CreateTable, UpdateTimeToLive } of tables) {
      await client.send(new CreateTableCommand(CreateTable));
      if (UpdateTimeToLive !== undefined) await client.send(new UpdateTimeToLiveCommand(UpdateTimeToLive));
    }
    const { Table: collections } = await client.send(
      new DescribeTableCommand({ TableName: "LisaRagCollectionsTable" }),
    );
    expect(collections?.KeySchema).toEqual([
      { AttributeName: "collectionId", KeyType: "HASH" },
      { AttributeName: "repositoryId", KeyType: "RANGE" },
    ]);
    const indexes = new Map(collections?.GlobalSecondaryIndexes?.map((index) => [index.IndexName, index]));
    expect([...indexes.keys()].toSorted()).toEqual(["CreatorIndex", "RepositoryIndex", "StatusIndex"]);
    expect(indexes.get("RepositoryIndex")).toMatchObject({
      KeySchema: [{ AttributeName: "repositoryId" }, { AttributeName: "createdAt" }],
      Projection: { ProjectionType: "ALL" },
    });
    const { Table: documents } = await client.send(new DescribeTableCommand({ TableName: "LisaRagDocumentTable" }));
    expect(documents).toMatchObject({
      KeySchema: [{ AttributeName: "pk" }, { AttributeName: "document_id" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: "CollectionIndex",
          KeySchema: [{ AttributeName: "collectionId" }, { AttributeName: "upload_date" }],
        },
      ],
    });
    expect(tables.map(({ CreateTable }) => CreateTable.BillingMode)).toEqual(Array(3).fill("PAY_PER_REQUEST"));
    expect(tables.flatMap(({ UpdateTimeToLive }) => UpdateTimeToLive?.TimeToLiveSpecification ?? [])).toEqual([
      { AttributeName: "deletedAt", Enabled: true },
    ]);
  });

  it("R-LISA-03 say the same as a template, under the names that were chosen, with recovery of 35 days", async () => {
    const names = { ...defaultNames, collectionsTable: "our-collections" };
    const { tables, template } = await filesOf(names);
    const resources = Object.values(template.Resources);
    expect(Object.keys(template.Resources)).toEqual([
      "LisaRagVectorStoreTable",
      "ourcollections",
      "LisaRagDocumentTable",
    ]);
    for (const [i, { Type, Properties }] of resources.entries()) {
      expect(Type).toBe("AWS::DynamoDB::Table");
      expect(Properties).toMatchObject({
        ...tables[i]?.CreateTable,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
      });
    }
    expect(resources[1]?.Properties).toMatchObject({
      TableName: "our-collections",
      TimeToLiveSpecification: { AttributeName: "deletedAt", Enabled: true },
    });
  });
});
