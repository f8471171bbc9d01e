/** Catalogs: create, list, delete. */
import type { Collection, Job } from "@pinakes/client";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { CatalogError, catalogNotFound, isKnown, knownError } from "../catalog-error.ts";
import { defineTool, type CatalogContext, type CatalogResult, type CatalogTool } from "../catalog-tool.ts";
import { catalogLimits } from "../limits.ts";
import { catalogId, catalogName, description } from "./fields.ts";
import { catalogRef, catalogSummary, counted, inMb, openCatalog, pagesOf, storageOf } from "./open-catalog.ts";
import { personalAlias } from "../../knowledge/index.ts";

export const createCatalog: CatalogTool = defineTool({
  name: "create_catalog",
  title: "Create a catalog",
  description:
    "Create a catalog: a named, private set of the user's documents that can be searched. Use it when the user wants to collect documents on a new topic. Returns the catalog_id that the other tools need.",
  input: z.strictObject({ catalog_name: catalogName, description: description.default("") }),
  run: async ({ knowledge, userId }, { catalog_name, description: about }) => {
    const catalog = await knowledge.collections
      .create({ repository: personalAlias, name: catalog_name, description: about })
      .catch((error: unknown) => {
        throw createError(error, catalog_name);
      });
    return {
      text: `Created the catalog "${catalog.name}" (${catalog.collection_id}). It is empty; upload documents to it with upload_to_catalog.`,
      metadata: {
        catalog_id: catalog.collection_id,
        catalog_name: catalog.name,
        description: catalog.description,
        ...storageOf(userId, catalog),
        indexing_status: catalog.indexing_status,
        created_at: Date.parse(catalog.created_at),
      },
    };
  },
});

function createError(error: unknown, name: string): unknown {
  const known = knownError(error);
  if (known?.code === "CONFLICT")
    return new CatalogError(
      "DUPLICATE_NAME",
      `You already have a catalog named "${name}" (names are case-insensitive). Choose another name, or use that catalog.`,
      {},
      error,
    );
  if (known?.code === "LIMIT_EXCEEDED")
    return new CatalogError(
      "LIMIT_EXCEEDED",
      `You have the maximum number of catalogs. Delete one with delete_catalog first. (${known.detail})`,
      {},
      error,
    );
  return error;
}

export const listCatalogs: CatalogTool = defineTool({
  name: "list_catalogs",
  title: "List catalogs",
  description:
    "List the user's catalogs with their ids, document counts, sizes and indexing status. Use it to find the catalog_id of a catalog that the user names.",
  input: z.strictObject({}),
  readOnly: true,
  run: async ({ knowledge, userId }) => {
    const catalogs = (
      await Array.fromAsync(
        pagesOf((cursor) =>
          knowledge.collections.list({
            repository: personalAlias,
            status: "live",
            sort: "name",
            order: "asc",
            limit: 100,
            cursor,
          }),
        ),
      )
    ).map((catalog) => catalogSummary(userId, catalog));
    const lines = catalogs.map(
      ({ id, name, document_count, total_size_mb, indexing_status }) =>
        `- ${name} (${id}): ${counted(document_count, "document")}, ${total_size_mb} MB, ${indexing_status}`,
    );
    return {
      text:
        catalogs.length === 0
          ? "You have no catalogs yet. Create one with create_catalog."
          : [`You have ${counted(catalogs.length, "catalog")}:`, ...lines].join("\n"),
      metadata: { catalog_count: catalogs.length, catalogs },
    };
  },
});

export const deleteCatalog: CatalogTool = defineTool({
  name: "delete_catalog",
  title: "Delete a catalog",
  description:
    "Permanently delete a catalog with all its documents and everything indexed from them. This cannot be undone: ask the user first, then call it with confirm=true. Returns what was deleted.",
  input: z.strictObject({
    catalog_id: catalogId,
    confirm: z.boolean().default(false).describe("true once the user has confirmed the deletion."),
  }),
  destructive: true,
  idempotent: true,
  run: async (context, { catalog_id, confirm }) => {
    const catalog = await openDeletable(context, catalog_id);
    if (!confirm)
      throw new CatalogError(
        "CONFIRMATION_REQUIRED",
        `Deleting the catalog "${catalog.name}" permanently removes its ${counted(catalog.document_count, "document")} (${inMb(catalog.total_size_bytes)} MB). Ask the user, then call delete_catalog again with confirm=true.`,
        { catalog_id, catalog_name: catalog.name, document_count: catalog.document_count },
      );
    const job = await purge(context, catalog);
    if ((await context.selection?.get())?.catalog_id === catalog_id) await context.selection?.clear();
    return deleted(catalog, job);
  },
});

/** Includes a catalog whose purge was interrupted or failed: it counts as deleted until nothing of it remains. */
async function openDeletable(context: CatalogContext, id: string): Promise<Collection> {
  try {
    return await openCatalog(context, id);
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const ending = await context.knowledge.collections
      .get(catalogRef(id), { deleted: true })
      .catch((reason: unknown) => {
        if (isKnown(reason, "NOT_FOUND", "GONE", "INVALID")) return undefined;
        throw reason;
      });
    if (ending?.status === "DELETE_IN_PROGRESS" || ending?.status === "DELETE_FAILED") return ending;
    throw error;
  }
}

/** A repeated call continues where the first stopped; the job removes everything even if this process dies. */
async function purge({ knowledge, signal }: CatalogContext, catalog: Collection): Promise<Job> {
  const { collection_id, incarnation } = catalog;
  try {
    let job = await knowledge.collections.delete(catalogRef(collection_id), {
      purge: true,
      confirm: collection_id,
      incarnation,
    });
    const deadline = performance.now() + catalogLimits.deleteWaitMsMax;
    for (let pauseMs = 50; isOpen(job) && performance.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
      job = await knowledge.jobs.get(job.job_id);
    }
    return job;
  } catch (error) {
    // A concurrent delete finished first.
    if (isKnown(error, "NOT_FOUND", "GONE")) throw catalogNotFound(collection_id);
    throw error;
  }
}

function isOpen({ status }: Job): boolean {
  return status === "queued" || status === "running";
}

function deleted(catalog: Collection, job: Job): CatalogResult {
  const { collection_id, name, document_count, total_size_bytes } = catalog;
  const done = job.status === "succeeded";
  const removed = `Deleted the catalog "${name}" with ${counted(document_count, "document")} (${inMb(total_size_bytes)} MB).`;
  return {
    text: done
      ? removed
      : `${removed} It can no longer be used; the removal of its storage continues (job ${job.job_id}).`,
    metadata: {
      catalog_id: collection_id,
      catalog_name: name,
      documents_deleted: document_count,
      storage_freed_mb: inMb(total_size_bytes),
      data_source_deleted: done,
      job_id: job.job_id,
      stores: job.result?.["stores"] ?? null,
    },
  };
}
