/**
 * Documents of LangChain's loaders into a collection, as documents that Pinakes cuts into chunks, embeds and cites. A loader may make
 * several of one source, such as the pages of a PDF: they are numbered. The same source again replaces what it was.
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
  /** What to keep of the metadata; all when absent. Names that Pinakes gives to chunks itself, such as `page`, are refused. */
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
    throw invalidInput(`documents[${twice}]: is there twice, or has the name of another one: ${uploads[twice]?.name}.`);
  return uploads;
}

/** What a document is known by when it is loaded again: where it comes from, else its id, else its text. */
function keyOf({ id, metadata, pageContent }: DocumentInterface): string {
  const source: unknown = metadata["source"];
  return typeof source === "string" && source !== "" ? source : (id ?? digest(pageContent));
}

const digest = (text: string): string => hash("sha256", text).slice(0, 32);

const nameCharsMax = 200;

/** What a loader gives is text, whatever the file was; only Markdown stays Markdown, whose headings chunks keep. */
function nameOf(key: string, part: string): string {
  const last = key.split(/[/\\]/).findLast((segment) => segment !== "") ?? "text";
  const extension = /\.(?:md|txt)$/i.exec(last)?.[0];
  const base = extension === undefined ? last : last.slice(0, -extension.length);
  const fit = Array.from(base.replaceAll(/\p{Cc}/gu, ""))
    .slice(0, nameCharsMax)
    .join("");
  return `${fit}${part}${extension ?? ".txt"}`;
}
