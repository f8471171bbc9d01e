/** Mastra's storage on Pinakes: memory, workflow runs, scores and thread state that last. */
export { PinakesStore, type PinakesStoreConfig } from "./pinakes-store.ts";
export { pinakesSearch } from "./search-tool.ts";
