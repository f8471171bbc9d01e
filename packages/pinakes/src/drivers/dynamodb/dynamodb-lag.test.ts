/** The conformance suite with late indexes, like those of the real service: only what is named here may differ. */
import { afterAll, beforeAll } from "vitest";
import { itemStoreSuite } from "../../testing/index.ts";
import { startLagProxy, type LagProxy } from "./lag-proxy.ts";
import { expiryIndex } from "./rows.ts";
import { TestStores } from "./test-stores.ts";

let proxy: LagProxy;
beforeAll(async () => {
  // Purging may be late and promises nothing else, but the suite counts what it purges, so its own index is prompt here.
  proxy = await startLagProxy({ lagMs: 20, prompt: [expiryIndex] });
});
afterAll(() => proxy.stop());

const stores = new TestStores(() => proxy.endpoint);
itemStoreSuite({
  name: "dynamodb with late indexes",
  open: ({ clock }) => stores.open({ clock }),
  reopen: ({ clock }) => stores.reopen({ clock }),
  propertyRuns: 15,
});
