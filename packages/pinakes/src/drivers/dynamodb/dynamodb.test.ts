/** The conformance suite on a server of the DynamoDB API. */
import { afterAll, beforeAll } from "vitest";
import { itemStoreSuite } from "../../testing/index.ts";
import { TestStores } from "./test-stores.ts";
import { startDynamo, type DynamoServer } from "./test-server.ts";

let server: DynamoServer;
beforeAll(async () => {
  server = await startDynamo();
});
afterAll(() => server.stop());

const stores = new TestStores(() => server.endpoint);
itemStoreSuite({
  name: "dynamodb",
  open: ({ clock }) => stores.open({ clock }),
  reopen: ({ clock }) => stores.reopen({ clock }),
});
