/** The ten operations of the knowledge-base agent on catalogs, over the client's interface: for HTTP, MCP and stdio alike. */
export { catalogTools } from "./catalog-tools.ts";
export {
  CatalogEnvelopeSchema,
  enveloped,
  inputError,
  type CatalogContext,
  type CatalogEnvelope,
  type CatalogTool,
} from "./catalog-tool.ts";
export { openSelections, type CatalogSelection, type CatalogSelections, type SelectionSlot } from "./selections.ts";
export { openDocument } from "./tools/open-catalog.ts";
