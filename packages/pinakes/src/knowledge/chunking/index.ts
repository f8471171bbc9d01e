/** Chunking: its settings, and documents to chunks. */
export { chunkDocument } from "./chunk-document.ts";
export { clampedStrategy, limitWarning } from "./model-limit.ts";
export { catalogChunking, readChunkingStrategy, systemChunking } from "./strategy.ts";
