/** Documents of a catalog: upload, list, delete, download. */
import { z } from "zod";
import { CatalogError, documentNotFound, isKnown } from "../catalog-error.ts";
import { defineTool, type CatalogContext, type CatalogTool } from "../catalog-tool.ts";
import { catalogFileTypes, catalogLimits } from "../limits.ts";
import { catalogId, documentId, filename } from "./fields.ts";
import { catalogRef, counted, documentSummary, inKb, openCatalog, openDocument, pagesOf } from "./open-catalog.ts";
import { checkFile, fileTooLarge, storeFile } from "./store-file.ts";

export const uploadToCatalog: CatalogTool = defineTool({
  name: "upload_to_catalog",
  title: "Upload a document to a catalog",
  description: `Add one document (${catalogFileTypes.join(", ")}; at most 50 MB) to a catalog; indexing starts by itself. Send the bytes as base64 in file_content. Without file_content the result is NO_FILES_UPLOADED with an upload_url to which the file can be sent with HTTP PUT; use that for large files. Use replace=true only when the user wants to replace the file of the same name.`,
  input: z.strictObject({
    catalog_id: catalogId,
    filename,
    file_content: z
      .string()
      .optional()
      .describe("The bytes of the file as base64.")
      .meta({ contentEncoding: "base64" }),
    replace: z.boolean().default(false).describe("Replace the document of the same name (ignoring case)."),
  }),
  // With replace=true the earlier content is no longer searched.
  destructive: true,
  run: async (context, { catalog_id, filename: name, file_content, replace }) => {
    checkFile(name);
    if (file_content === undefined) throw await withoutContent(context, catalog_id, name, replace);
    const body = decoded(file_content, name);
    const document = await storeFile(context, catalog_id, { filename: name, body, replace });
    return {
      text: `Uploaded "${document.name}" (${document.document_id}, ${inKb(document.size_bytes)} KB); it is being indexed. get_indexing_status shows when it can be searched.`,
      metadata: { catalog_id, ...documentSummary(document), job_id: document.job_id },
    };
  },
});

/** The file is too large for a message, or was omitted: the result says where to send the bytes. */
async function withoutContent(
  context: CatalogContext,
  catalogIdOf: string,
  name: string,
  replace: boolean,
): Promise<CatalogError> {
  await openCatalog(context, catalogIdOf);
  const { url, expires_in_seconds } = await context.knowledge.documents.uploadLink(catalogRef(catalogIdOf), {
    name,
    replace,
    expires_in_seconds: catalogLimits.linkSeconds,
  });
  const upload_url = linkOf(context, url);
  return new CatalogError(
    "NO_FILES_UPLOADED",
    `No file_content was sent for "${name}". Send the file as base64 in file_content, or send its bytes once with HTTP PUT to ${upload_url} within ${expires_in_seconds} seconds.`,
    { upload_url, expires_in_seconds },
  );
}

const notBase64 = /[^A-Za-z0-9+/]/;

function decoded(content: string, name: string): Uint8Array {
  const text = /\s/.test(content) ? content.replaceAll(/\s+/g, "") : content;
  if (text.length > catalogLimits.fileContentCharsMax) throw fileTooLarge(name);
  if (text === "") throw new CatalogError("INVALID_FILE_CONTENT", `"${name}" is empty.`);
  if (text.length % 4 !== 0 || notBase64.test(text.replace(/={1,2}$/, "")))
    throw new CatalogError(
      "INVALID_FILE_CONTENT",
      "file_content: is not base64 (RFC 4648, section 4: A–Z a–z 0–9 + / with = at the end).",
    );
  return Buffer.from(text, "base64");
}

export const listCatalogDocuments: CatalogTool = defineTool({
  name: "list_catalog_documents",
  title: "List the documents of a catalog",
  description:
    "List all documents of a catalog with their ids, sizes, indexing status and upload times (epoch milliseconds). Use it to find a document_id, or to tell the user what a catalog contains.",
  input: z.strictObject({ catalog_id: catalogId }),
  readOnly: true,
  run: async (context, { catalog_id }) => {
    const catalog = await openCatalog(context, catalog_id);
    const documents = (
      await Array.fromAsync(
        pagesOf((cursor) => context.knowledge.documents.list(catalogRef(catalog_id), { limit: 100, cursor })),
      )
    ).map(documentSummary);
    const lines = documents.map(
      ({ document_id, filename: name, file_size_kb, indexing_status }) =>
        `- ${name} (${document_id}): ${file_size_kb} KB, ${indexing_status}`,
    );
    return {
      text:
        documents.length === 0
          ? `The catalog "${catalog.name}" is empty. Add documents with upload_to_catalog.`
          : [`The catalog "${catalog.name}" has ${counted(documents.length, "document")}:`, ...lines].join("\n"),
      metadata: { catalog_id, catalog_name: catalog.name, document_count: documents.length, documents },
    };
  },
});

export const deleteCatalogDocument: CatalogTool = defineTool({
  name: "delete_catalog_document",
  title: "Delete a document of a catalog",
  description:
    "Permanently delete one document of a catalog, with everything indexed from it; later questions are no longer answered from it. Ask the user first.",
  input: z.strictObject({ catalog_id: catalogId, document_id: documentId }),
  destructive: true,
  idempotent: true,
  run: async (context, { catalog_id, document_id }) => {
    const document = await openDocument(context, catalog_id, document_id);
    await context.knowledge.documents.delete(catalogRef(catalog_id), document_id).catch((error: unknown) => {
      throw isKnown(error, "NOT_FOUND", "GONE") ? documentNotFound(catalog_id, document_id) : error;
    });
    return {
      text: `Deleted "${document.name}" with its ${counted(document.chunk_count, "indexed chunk")}.`,
      metadata: { catalog_id, document_id, filename: document.name, vectors_removed: document.chunk_count },
    };
  },
});

export const downloadFromCatalog: CatalogTool = defineTool({
  name: "download_from_catalog",
  title: "Download a document of a catalog",
  description:
    "Get a link with which the user can download the original file of a document, without signing in, for 15 minutes.",
  input: z.strictObject({ catalog_id: catalogId, document_id: documentId }),
  readOnly: true,
  run: async (context, { catalog_id, document_id }) => {
    const document = await openDocument(context, catalog_id, document_id);
    const { url, expires_in_seconds } = await context.knowledge.documents
      .downloadLink(catalogRef(catalog_id), document_id, { expires_in_seconds: catalogLimits.linkSeconds })
      .catch((error: unknown) => {
        throw isKnown(error, "NOT_FOUND", "GONE") ? documentNotFound(catalog_id, document_id) : error;
      });
    const download_url = linkOf(context, url);
    return {
      text: `Download "${document.name}" within ${expires_in_seconds} seconds: ${download_url}`,
      metadata: { catalog_id, document_id, filename: document.name, download_url, expires_in_seconds },
    };
  },
});

/** Links of the server are relative; a remote client needs the server's address as a prefix. */
export function linkOf({ baseUrl }: CatalogContext, path: string): string {
  return baseUrl === undefined ? path : `${baseUrl.replace(/\/+$/, "")}${path}`;
}
