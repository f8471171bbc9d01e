/** The name of a document's file: readable, with the extension that tells its type. */
import type { DocumentFields } from "./library-records.ts";

const extensionOf: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/html": "html",
  "application/pdf": "pdf",
  "application/json": "json",
  "application/xml": "xml",
  "text/xml": "xml",
  "application/rtf": "rtf",
  "text/turtle": "ttl",
  "application/n-triples": "nt",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
};
const charsMax = 100;

export function fileNameOf({
  document_id,
  title,
  media_type,
}: Pick<DocumentFields, "document_id" | "title" | "media_type">): string {
  const named = (title === "" ? document_id : title)
    .replaceAll(/[^\p{L}\p{N} ._-]+/gu, "-")
    .replaceAll(/^[-. ]+|[-. ]+$/g, "");
  const base = named.slice(0, charsMax).trim() || "document";
  const type = media_type.split(";")[0]?.trim().toLowerCase() ?? "";
  const extension = Object.hasOwn(extensionOf, type) ? extensionOf[type] : undefined;
  return extension === undefined || base.toLowerCase().endsWith(`.${extension}`) ? base : `${base}.${extension}`;
}
