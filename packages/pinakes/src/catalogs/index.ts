/** The ten operations of the knowledge-base agent on catalogs, over the client's interface: for HTTP, MCP and stdio alike. */
export { catalogErrorOf, type CatalogErrorCode } from "./catalog-error.ts";
export { catalogTools } from "./catalog-tools.ts";
export {
  CatalogEnvelopeSchema,
  enveloped,
  inputError,
  errorEnvelope,
  type CatalogContext,
  type CatalogEnvelope,
  type CatalogTool,
} from "./catalog-tool.ts";
export { openSelections, type CatalogSelection, type CatalogSelections, type SelectionSlot } from "./selections.ts";
export { selectedCatalog } from "./session-selection.ts";
export type { FileToStore } from "./tools/store-file.ts";
export { uploadFiles } from "./upload-files.ts";
export { openDocument } from "./tools/open-catalog.ts";
