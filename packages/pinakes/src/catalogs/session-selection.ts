/** The selected catalog of a session, for protocols that query it. */
import { CatalogError } from "./catalog-error.ts";
import { enveloped, type CatalogContext, type CatalogEnvelope } from "./catalog-tool.ts";
import { catalogSummary, openCatalog } from "./tools/open-catalog.ts";

export async function selectedCatalog(context: CatalogContext): Promise<CatalogEnvelope> {
  return enveloped(async () => {
    const none = { text: "No catalog is selected.", metadata: { selected_catalog_id: null, selected_at: null } };
    const selected = await context.selection?.get();
    if (selected === undefined || selected === null) return none;
    try {
      const catalog = await openCatalog(context, selected.catalog_id);
      return {
        text: `The catalog "${catalog.name}" is selected.`,
        metadata: {
          selected_catalog_id: selected.catalog_id,
          selected_at: selected.selected_at,
          catalog: catalogSummary(context.userId, catalog),
        },
      };
    } catch (error) {
      // The catalog was deleted since.
      if (error instanceof CatalogError && error.code === "CATALOG_NOT_FOUND") return none;
      throw error;
    }
  });
}
