/** Pinakes as LlamaIndex.TS' vector store and retriever. */
export { PinakesVectorStore, type PinakesQueryParams, type PinakesVectorStoreParams } from "./vector-store.ts";
export { PinakesRetriever, type PinakesRetrieverOptions } from "./retriever.ts";
