/** The conformance suite on items in memory: no driver needed, and the fastest way to run it. */
import { systemScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { tripleStoreSuite } from "../../testing/triple-store-suite.ts";
import { openItemTriples } from "./index.ts";

const scope = systemScope("tests of triples on items", () => undefined);
let items: Promise<ItemStore> | undefined;

tripleStoreSuite(
  "items in memory",
  async () => openItemTriples({ items: await (items ??= openMemoryItems()), scope }),
  // Terms are inside the quads.
  { countsTerms: false },
);
