export { chromaCollections, chromaRows } from "./chroma-folder.ts";
export { importLayout, type ImportOptions, type ImportProgress, type ImportResult } from "./import-layout.ts";
export {
  announceDelta,
  dropBoxQueue,
  processDropBox,
  type DropBoxOptions,
  type DropBoxLocation,
  type DropBoxDependencies,
  type DropBoxRound,
} from "./drop-box.ts";
export { folderReader, objectsReader, type SourceReader } from "./reader.ts";
