import { afterAll, beforeAll } from "vitest";
import { itemStoreSuite } from "../../testing/item-store-suite.ts";
import { openPostgresItems } from "./index.ts";
import { startPostgres, type TestServer } from "./test-server.ts";

let server: TestServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

itemStoreSuite({
  name: "postgres",
  open: ({ clock }) => openPostgresItems({ url: server.url, database: `suite-${(databases += 1)}`, clock }),
  reopen: ({ clock }) => openPostgresItems({ url: server.url, database: `suite-${databases}`, clock }),
});
