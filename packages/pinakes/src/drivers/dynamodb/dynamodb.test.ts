/** The conformance suite on a server of the DynamoDB API. */
import { itemStoreSuite } from "../../testing/index.ts";
import { TestStores } from "./test-stores.ts";
import { startDynamo } from "./test-server.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const server = forAllTests(() => startDynamo());

const stores = new TestStores(() => server.endpoint);
itemStoreSuite({
  name: "dynamodb",
  open: ({ clock }) => stores.open({ clock }),
  reopen: ({ clock }) => stores.reopen({ clock }),
});
