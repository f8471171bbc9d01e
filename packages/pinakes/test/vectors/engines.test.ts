/** The contract of the vector store on real stores, in common combinations. */
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TestStores } from "../../src/drivers/dynamodb/test-stores.ts";
import { startDynamo, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { openFileObjects } from "../../src/drivers/fs/index.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../src/drivers/memory-objects/index.ts";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";
import { openS3Objects, type S3ObjectsOptions } from "../../src/drivers/s3/index.ts";
import { startS3, type S3Server } from "../../src/drivers/s3/test-server.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import { vectorStoreSuite } from "./suite.ts";

const base = temporaryFolder("vectors-engines");
let postgres: TestServer;
let s3: S3Server;
let dynamo: DynamoServer;
beforeAll(async () => {
  [postgres, s3, dynamo] = await Promise.all([startPostgres(), startS3(), startDynamo()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), s3.stop(), dynamo.stop()]);
});

const memory = { items: openMemoryItems(), objects: openMemoryObjects() };
vectorStoreSuite("memory", async () => ({ items: await memory.items, objects: memory.objects }));

vectorStoreSuite("SQLite and a folder", async () => ({
  items: await openSqliteItems({ dir: join(base, "folder-items") }),
  objects: await openFileObjects({ dir: join(base, "folder-objects") }),
}));

/** One bucket for the processes of a suite. */
const buckets = new Map<string, Promise<S3ObjectsOptions>>();
function bucket(name: string): Promise<S3ObjectsOptions> {
  const made = buckets.get(name) ?? s3.bucket(name);
  buckets.set(name, made);
  return made;
}

vectorStoreSuite("SQLite and S3", async () => ({
  items: await openSqliteItems({ dir: join(base, "s3-items") }),
  objects: await openS3Objects(await bucket("sqlite-and-s3")),
}));

vectorStoreSuite("PostgreSQL and S3", async () => ({
  items: await openPostgresItems({ url: postgres.url, database: "vectors" }),
  objects: await openS3Objects(await bucket("postgres-and-s3")),
}));

const tables = new TestStores(() => dynamo.endpoint);
let opened = 0;
vectorStoreSuite("DynamoDB and a folder", async () => ({
  items: await ((opened += 1) === 1 ? tables.open() : tables.reopen()),
  objects: await openFileObjects({ dir: join(base, "dynamo-objects") }),
}));
