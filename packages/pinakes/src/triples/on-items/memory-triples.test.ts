/** The conformance suite on items in memory. The engine needs no driver; this is the quickest to run it on. */
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
  // Words lie within the quads.
  { countsTerms: false },
);
