/** Uploads several files to a catalog in one operation, each with its own result. */
import type { UploadedDocument } from "@pinakes/client";
import type { JsonObject } from "../domain/json.ts";
import { CatalogError, asCatalogError, type CatalogErrorCode } from "./catalog-error.ts";
import { enveloped, type CatalogContext, type CatalogEnvelope } from "./catalog-tool.ts";
import { counted, documentSummary, openCatalog } from "./tools/open-catalog.ts";
import { storeFile, type FileToStore, type TakeFile } from "./tools/store-file.ts";

/** Runs uploads under one job, as `knowledge.documents.uploadMany`. */
export type UnderOneJob = <Result>(
  run: (take: TakeFile) => Promise<Result>,
) => Promise<{ readonly job_id: string | null; readonly result: Result }>;

interface Refused {
  readonly filename: string;
  readonly error_code: CatalogErrorCode;
  readonly message: string;
}

/**
 * Files are read one after another, as they arrive. A rejected file does not affect the others; if none was stored, the result is the first
 * error.
 */
export async function uploadFiles(
  context: CatalogContext,
  catalogId: string,
  files: AsyncIterable<FileToStore>,
  underOneJob: UnderOneJob,
): Promise<CatalogEnvelope> {
  return enveloped(async () => {
    const catalog = await openCatalog(context, catalogId);
    const errors: Refused[] = [];
    const documents: UploadedDocument[] = [];
    let first: CatalogError | undefined;
    const { job_id } = await underOneJob(async (take) => {
      for await (const file of files) {
        try {
          documents.push(await storeFile(context, catalogId, file, take));
        } catch (error) {
          const known = asCatalogError(error);
          if (known === undefined || known.code === "SERVICE_UNAVAILABLE") throw error;
          first ??= known;
          errors.push({ filename: file.filename, error_code: known.code, message: known.message });
        }
      }
    });
    if (documents.length === 0 && first === undefined)
      throw new CatalogError(
        "NO_FILES_UPLOADED",
        "The form has no file. Send at least one, as a part with a file name.",
      );
    const refused = errors.map((error): JsonObject => ({ ...error }));
    if (documents.length === 0 && first !== undefined)
      throw errors.length === 1 ? first : new CatalogError(first.code, first.message, { errors: refused }, first);
    const stored = documents.map(documentSummary);
    return {
      text: [
        `Uploaded ${counted(stored.length, "document")} to the catalog "${catalog.name}"; indexing has started.`,
        ...stored.map(({ document_id, filename }) => `- ${filename} (${document_id})`),
        ...errors.map(({ filename, message }) => `- ${filename} was not uploaded: ${message}`),
      ].join("\n"),
      metadata: {
        catalog_id: catalogId,
        ...(stored.length === 1 ? stored[0] : {}),
        job_id,
        documents: stored,
        errors: refused,
      },
    };
  });
}
