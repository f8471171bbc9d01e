/**
 * Uploads documents of LangChain's loaders to a collection, where Pinakes chunks, embeds and cites them. A loader may create several from
 * one source, such as the pages of a PDF: they are numbered. Uploading the same source again replaces its documents.
 */
import { hash } from "node:crypto";
import type { DocumentLoader } from "@langchain/core/document_loaders/base";
import type { DocumentInterface } from "@langchain/core/documents";
import {
  invalidInput,
  toJsonObject,
  type CollectionRef,
  type Document,
  type KnowledgeClient,
  type NewDocument,
  type UploadedDocument,
} from "@pinakes/client";

export interface UploadDocumentsOptions {
  readonly in: CollectionRef;
  /** Resolve when all of them can be searched; one that cannot be indexed rejects with the reason. */
  readonly wait?: boolean | undefined;
  /** The file name, which then identifies the document in the collection. */
  readonly name?: ((document: DocumentInterface, index: number) => string) | undefined;
  /** Which metadata to store; default: all. Names that Pinakes sets on chunks itself, such as `page`, are rejected. */
  readonly metadata?: ((document: DocumentInterface, index: number) => object) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @example
 * await uploadDocuments(client, new TextLoader("notes.md"), { in: "me/notes", wait: true });
 */
export async function uploadDocuments(
  knowledge: Pick<KnowledgeClient, "documents">,
  source: DocumentLoader | readonly DocumentInterface[],
  options: UploadDocumentsOptions,
): Promise<(UploadedDocument | Document)[]> {
  const { in: at, wait = false, signal } = options;
  const loaded = "load" in source ? await source.load() : source;
  const uploaded: UploadedDocument[] = [];
  for (const document of toUploads(loaded, options))
    uploaded.push(await knowledge.documents.upload(at, { ...document, replace: true }, { signal }));
  if (!wait) return uploaded;
  const indexed: Document[] = [];
  for (const { document_id } of uploaded) indexed.push(await knowledge.documents.wait(at, document_id, { signal }));
  return indexed;
}

function toUploads(
  documents: readonly DocumentInterface[],
  { name, metadata }: UploadDocumentsOptions,
): readonly NewDocument[] {
  const bySource = Map.groupBy(documents, keyOf);
  const uploads = documents.map((document, i): NewDocument => {
    const key = keyOf(document);
    const parts = bySource.get(key) ?? [];
    const part = parts.indexOf(document) + 1;
    return {
      ...(name === undefined
        ? { name: nameOf(key, parts.length > 1 ? `-${part}` : ""), path: `langchain/${digest(key)}/${part}` }
        : { name: name(document, i) }),
      body: document.pageContent,
      metadata: toJsonObject(metadata?.(document, i) ?? document.metadata, `documents[${i}].metadata`),
    };
  });
  const names = uploads.map((upload) => (upload.path ?? upload.name).toLowerCase());
  const twice = names.findIndex((one, i) => names.indexOf(one) !== i);
  if (twice !== -1)
    throw invalidInput(
      `documents[${twice}]: is a duplicate, or has the name of another document: ${uploads[twice]?.name}.`,
    );
  return uploads;
}

/** The identity of a document for repeated loads: its source, else its id, else its text. */
function keyOf({ id, metadata, pageContent }: DocumentInterface): string {
  const source: unknown = metadata["source"];
  return typeof source === "string" && source !== "" ? source : (id ?? digest(pageContent));
}

const digest = (text: string): string => hash("sha256", text).slice(0, 32);

const nameCharsMax = 200;

/** A loader returns plain text for any file type; only Markdown stays Markdown, whose headings chunks keep. */
function nameOf(key: string, part: string): string {
  const last = key.split(/[/\\]/).findLast((segment) => segment !== "") ?? "text";
  const extension = /\.(?:md|txt)$/i.exec(last)?.[0];
  const base = extension === undefined ? last : last.slice(0, -extension.length);
  const fit = Array.from(base.replaceAll(/\p{Cc}/gu, ""))
    .slice(0, nameCharsMax)
    .join("");
  return `${fit}${part}${extension ?? ".txt"}`;
}
