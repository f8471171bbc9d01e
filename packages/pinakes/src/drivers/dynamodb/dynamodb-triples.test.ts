/** The conformance suite of triples on items in DynamoDB. */
import { afterAll } from "vitest";
import { systemScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { tripleStoreSuite } from "../../testing/triple-store-suite.ts";
import { openItemTriples } from "../../triples/on-items/index.ts";
import { startDynamo } from "./test-server.ts";
import { TestStores } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const server = forAllTests(() => startDynamo());

const scope = systemScope("tests of triples on items", () => undefined);
const stores = new TestStores(() => server.endpoint);
let items: Promise<ItemStore> | undefined;

tripleStoreSuite(
  "items in DynamoDB",
  async () => openItemTriples({ items: await (items ??= stores.open()), scope }),
  // Terms are inside the quads.
  { countsTerms: false, runs: 4, timeoutMs: 240_000 },
);

afterAll(async () => {
  await (await items)?.close();
});
