/** The ten tools, in the order in which a user encounters them. */
import type { CatalogTool } from "./catalog-tool.ts";
import { createCatalog, deleteCatalog, listCatalogs } from "./tools/catalogs.ts";
import {
  deleteCatalogDocument,
  downloadFromCatalog,
  listCatalogDocuments,
  uploadToCatalog,
} from "./tools/documents.ts";
import { getIndexingStatus } from "./tools/indexing-status.ts";
import { queryCatalog, selectCatalog } from "./tools/questions.ts";

export const catalogTools: readonly CatalogTool[] = [
  createCatalog,
  listCatalogs,
  uploadToCatalog,
  listCatalogDocuments,
  deleteCatalogDocument,
  selectCatalog,
  queryCatalog,
  deleteCatalog,
  getIndexingStatus,
  downloadFromCatalog,
];
