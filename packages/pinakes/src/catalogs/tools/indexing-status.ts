/** The indexing progress of a catalog. */
import { documentStatuses, type Collection, type Document, type Job } from "@pinakes/client";
import { z } from "zod";
import { isKnown } from "../catalog-error.ts";
import { defineTool, type CatalogContext, type CatalogTool } from "../catalog-tool.ts";
import { catalogId } from "./fields.ts";
import { catalogRef, counted, inMb, openCatalog, pagesOf } from "./open-catalog.ts";

/** Maximum number of failed documents that a result lists. */
const failuresShownMax = 20;

export const getIndexingStatus: CatalogTool = defineTool({
  name: "get_indexing_status",
  title: "Indexing status of a catalog",
  description:
    "Show how far the indexing of a catalog is: its overall status, how many documents have which status, and which failed and why. Use it after an upload, or when a question got INDEXING_IN_PROGRESS.",
  input: z.strictObject({ catalog_id: catalogId }),
  readOnly: true,
  run: async (context, { catalog_id }) => {
    const catalog = await openCatalog(context, catalog_id);
    const counts = catalog.documents_by_status;
    const [job, failures] = await Promise.all([
      latestJob(context, catalog),
      counts.failed === 0 ? [] : failedDocuments(context, catalog),
    ]);
    const parts = documentStatuses
      .filter((status) => counts[status] > 0)
      .map((status) => `${counts[status]} ${status}`);
    const lines = failures.map(({ filename, error_message }) => `- ${filename}: ${error_message}`);
    return {
      text: [
        `The catalog "${catalog.name}" is ${catalog.indexing_status}: ${catalog.document_count === 0 ? "it has no documents" : `${counted(catalog.document_count, "document")} (${parts.join(", ")})`}.`,
        ...lines,
      ].join("\n"),
      metadata: {
        catalog_id,
        catalog_name: catalog.name,
        overall_status: catalog.indexing_status,
        counts: { ...counts },
        document_count: catalog.document_count,
        job_id: job?.job_id ?? null,
        statistics: statisticsOf(catalog, job),
        failures,
      },
    };
  },
});

/** The job of the newest document's upload; a single upload has none. */
async function latestJob({ knowledge }: CatalogContext, { collection_id }: Collection): Promise<Job | undefined> {
  const { items } = await knowledge.documents.list(catalogRef(collection_id), { order: "desc", limit: 1 });
  const jobId = items[0]?.job_id ?? null;
  if (jobId === null) return undefined;
  return knowledge.jobs.get(jobId).catch((error: unknown) => {
    if (isKnown(error, "NOT_FOUND", "GONE")) return undefined;
    throw error;
  });
}

async function failedDocuments({ knowledge }: CatalogContext, { collection_id }: Collection) {
  const failed: Pick<Document, "document_id" | "name" | "error">[] = [];
  const pages = pagesOf((cursor) =>
    knowledge.documents.list(catalogRef(collection_id), { status: "failed", limit: failuresShownMax, cursor }),
  );
  for await (const document of pages) {
    failed.push(document);
    if (failed.length === failuresShownMax) break;
  }
  return failed.map(({ document_id, name, error }) => ({
    document_id,
    filename: name,
    error_message: error ?? "It failed.",
  }));
}

function statisticsOf(catalog: Collection, job: Job | undefined) {
  const { indexed, failed } = catalog.documents_by_status;
  return {
    documents_scanned: catalog.document_count,
    documents_indexed: indexed,
    documents_failed: failed,
    documents_in_progress: catalog.document_count - indexed - failed,
    chunks_indexed: catalog.chunk_count,
    total_size_mb: inMb(catalog.total_size_bytes),
    last_sync_at: catalog.last_sync_at === null ? null : Date.parse(catalog.last_sync_at),
    job_status: job?.status ?? null,
    job_progress: job === undefined ? null : { ...job.progress },
  };
}
