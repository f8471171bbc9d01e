/** The conformance suites for authors of drivers, run with vitest. */
export { itemStoreSuite, type ItemStoreHarness, type Skip } from "./item-store-suite.ts";
export { objectStoreSuite, type ObjectStoreSuiteOptions } from "./object-store-suite.ts";
export { queueSuite, type QueueHarness, type QueueSkip } from "./queue-suite.ts";
export { tripleStoreSuite, type TripleSuiteOptions } from "./triple-store-suite.ts";
