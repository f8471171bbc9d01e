/** The selected catalog of a session, and queries. */
import type { Hit, SearchAnswer } from "@pinakes/client";
import { z } from "zod";
import type { JsonObject } from "../../domain/json.ts";
import { CatalogError } from "../catalog-error.ts";
import { defineTool, type CatalogContext, type CatalogTool } from "../catalog-tool.ts";
import { catalogLimits } from "../limits.ts";
import type { SelectionSlot } from "../selections.ts";
import { linkOf } from "./documents.ts";
import { catalogId, numResults, query } from "./fields.ts";
import { catalogRef, counted, openCatalog } from "./open-catalog.ts";

const none = "none";

export const selectCatalog: CatalogTool = defineTool({
  name: "select_catalog",
  title: "Select a catalog",
  description:
    'Select the catalog that query_catalog asks for the rest of this session, or "none" to deselect. Use it when the user wants to talk about one catalog for a while.',
  input: z.strictObject({
    catalog_id: z.string().min(1).describe('The id of a catalog, or "none".'),
  }),
  idempotent: true,
  run: async (context, { catalog_id }) => {
    const selection = requireSession(context);
    if (catalog_id === none) {
      await selection.clear();
      return { text: "No catalog is selected now.", metadata: { active: false, catalog_id: null, document_count: 0 } };
    }
    const catalog = await openCatalog(context, catalog_id);
    if (catalog.document_count === 0) throw empty(catalog_id, catalog.name);
    const selected_at = Date.now();
    await selection.set({ catalog_id, selected_at });
    return {
      text: `Selected the catalog "${catalog.name}" (${counted(catalog.document_count, "document")}, ${catalog.indexing_status}).`,
      metadata: {
        active: true,
        catalog_id,
        catalog_name: catalog.name,
        document_count: catalog.document_count,
        indexing_status: catalog.indexing_status,
        selected_at,
      },
    };
  },
});

export const queryCatalog: CatalogTool = defineTool({
  name: "query_catalog",
  title: "Ask a catalog",
  description:
    "Search a catalog for the chunks of text that answer a question, and cite them by filename. Use it for every question that the user's documents may answer. Without catalog_id it searches the catalog that select_catalog selected. An answer without sources means that nothing relevant was found.",
  input: z.strictObject({
    query,
    catalog_id: catalogId.optional().describe("The catalog to search; the selected one when absent."),
    num_results: numResults,
  }),
  readOnly: true,
  run: async (context, { query: question, catalog_id, num_results }) => {
    const id = catalog_id ?? (await selectedId(context));
    const catalog = await openCatalogOf(context, id, catalog_id === undefined);
    if (catalog.document_count === 0) throw empty(id, catalog.name);
    const limit = Math.min(num_results, catalogLimits.resultsMax);
    const answer = await context.knowledge.search.query(question, { in: catalogRef(id), limit, archived: true });
    const { uploading, pending, indexing, failed } = catalog.documents_by_status;
    const open = uploading + pending + indexing;
    if (answer.hits.length === 0 && answer.outcome === "indexing")
      throw new CatalogError(
        "INDEXING_IN_PROGRESS",
        `${counted(open, "document")} of the catalog "${catalog.name}" ${open === 1 ? "is" : "are"} still being indexed, and nothing indexed so far answers the question. Ask again in a moment; get_indexing_status shows the progress.`,
        { catalog_id: id, documents_in_progress: open },
      );
    const sources = answer.hits.map((hit, i) => sourceOf(context, hit, i + 1));
    const notes = [
      ...(num_results > limit
        ? [`num_results: at most ${limit} sources are returned; ${num_results} were requested.`]
        : []),
      ...(answer.warnings ?? []),
      ...(open > 0 ? [`${counted(open, "document")} still being indexed.`] : []),
      ...(failed > 0 ? [`${counted(failed, "document")} could not be indexed; get_indexing_status names them.`] : []),
    ];
    return {
      text: [words(answer, sources, catalog.name), ...notes.map((note) => `Note: ${note}`)].join("\n\n"),
      metadata: {
        catalog_id: id,
        catalog_name: catalog.name,
        query: question,
        result_count: sources.length,
        sources,
        notes,
      },
    };
  },
});

function requireSession({ selection }: CatalogContext): SelectionSlot {
  if (selection !== undefined) return selection;
  throw new CatalogError(
    "NO_SESSION",
    "This connection has no session in which a catalog could be selected. Pass catalog_id in each query_catalog call.",
  );
}

async function selectedId({ selection }: CatalogContext): Promise<string> {
  const selected = await selection?.get();
  if (selected === undefined || selected === null) throw notSelected();
  return selected.catalog_id;
}

function notSelected(): CatalogError {
  return new CatalogError(
    "NO_CATALOG_SELECTED",
    "No catalog is selected. Select one with select_catalog, or pass catalog_id.",
  );
}

/** A selected catalog that was deleted meanwhile is no longer selected. */
async function openCatalogOf(context: CatalogContext, id: string, isSelected: boolean) {
  try {
    return await openCatalog(context, id);
  } catch (error) {
    if (!isSelected || !(error instanceof CatalogError)) throw error;
    if ((await context.selection?.get())?.catalog_id === id) await context.selection?.clear();
    throw notSelected();
  }
}

function empty(id: string, name: string): CatalogError {
  return new CatalogError("CATALOG_EMPTY", `The catalog "${name}" is empty. Add documents with upload_to_catalog.`, {
    catalog_id: id,
    document_count: 0,
  });
}

function sourceOf(context: CatalogContext, { text, score, citation }: Hit, index: number) {
  const { document_id, filename, page, section } = citation;
  const path = `/v1/repositories/me/collections/${encodeURIComponent(citation.collection_id)}/documents/${encodeURIComponent(document_id)}/content`;
  return {
    index,
    document_id,
    filename,
    text: excerpt(text),
    score,
    uri: linkOf(context, path),
    ...(page === undefined ? {} : { page }),
    ...(section === undefined ? {} : { section }),
  } satisfies JsonObject;
}

/** Truncated to the characters the contract allows, never inside a character. */
function excerpt(text: string): string {
  const { sourceTextCharsMax } = catalogLimits;
  if (text.length <= sourceTextCharsMax) return text;
  const chars = Array.from(text);
  return chars.length <= sourceTextCharsMax ? text : `${chars.slice(0, sourceTextCharsMax - 1).join("")}…`;
}

function words(
  { hits }: SearchAnswer,
  sources: readonly { index: number; filename: string; text: string; page?: number }[],
  name: string,
): string {
  if (hits.length === 0) return `Nothing in the catalog "${name}" answers this question.`;
  const lines = sources.map(
    ({ index, filename, text, page }) =>
      `[${index}] ${filename}${page === undefined ? "" : `, page ${page}`}:\n${text}`,
  );
  return [`${counted(hits.length, "source")} in the catalog "${name}":`, ...lines].join("\n\n");
}
