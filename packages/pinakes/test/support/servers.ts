/** A PostgreSQL and a DynamoDB for the tests of a file: started before them, stopped after. */
import { afterAll, beforeAll, vi } from "vitest";
import { startDynamo, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";

export interface Servers {
  /** The address for `open({ items })`. */
  readonly postgres: () => string;
  readonly dynamo: (prefix: string) => string;
  /** To kill it, and start it again. */
  readonly postgresServer: () => TestServer;
}

export function useServers(): Servers {
  let postgres: TestServer;
  let dynamo: DynamoServer;
  beforeAll(async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    [postgres, dynamo] = await Promise.all([startPostgres(), startDynamo()]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await Promise.all([postgres.stop(), dynamo.stop()]);
  });
  return {
    postgres: () => postgres.url,
    dynamo: (prefix) => `dynamodb://local/${prefix}?endpoint=${dynamo.endpoint}`,
    postgresServer: () => postgres,
  };
}
