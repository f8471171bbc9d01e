import { itemStoreSuite } from "../../testing/item-store-suite.ts";
import { openPostgresItems } from "./index.ts";
import { startPostgres } from "./test-server.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

let databases = 0;
const server = forAllTests(() => startPostgres());

itemStoreSuite({
  name: "postgres",
  open: ({ clock }) => openPostgresItems({ url: server.url, database: `suite-${(databases += 1)}`, clock }),
  reopen: ({ clock }) => openPostgresItems({ url: server.url, database: `suite-${databases}`, clock }),
});
