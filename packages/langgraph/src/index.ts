/** Pinakes as LangGraph's checkpointer and store. */
export { PinakesSaver, type PinakesSaverOptions } from "./saver/pinakes-saver.ts";
export { PinakesStore, type PinakesStoreOptions } from "./store/pinakes-store.ts";
export type { EmbedOptions } from "./store/embedding.ts";
export type { StateSource } from "./source.ts";
export { pinakesSearch, type SearchToolContent } from "./search-tool.ts";
