/** Pinakes as LangChain's vector store, retriever, target of loaders and chat history. */
export { PinakesVectorStore, type AddOptions, type PinakesVectorStoreConfig } from "./vector-store.ts";
export type { PinakesFilter } from "./filter.ts";
export { PinakesRetriever, type PinakesRetrieverInput, type RetrievedMetadata } from "./retriever.ts";
export { uploadDocuments, type UploadDocumentsOptions } from "./upload-documents.ts";
export { PinakesChatHistory, type PinakesChatHistoryInput } from "./chat-history.ts";
