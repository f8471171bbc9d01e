/** Chunking: its settings, and documents to passages. */
export { chunkDocument, type ChunkingTools } from "./chunk-document.ts";
export { catalogChunking, chunkingLimits, readChunkingStrategy, systemChunking } from "./strategy.ts";
