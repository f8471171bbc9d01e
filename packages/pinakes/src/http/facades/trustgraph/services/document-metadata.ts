/** The metadata of a document, as clients send and receive it. */
import { invalid, show } from "../../../../domain/errors.ts";
import type { DocumentFields, LibraryDocument, LibraryDocumentChange } from "../../../../knowledge/index.ts";
import type { Call, Request } from "../call.ts";
import { optionalText, text, texts } from "../fields.ts";
import { readTriples, writeTriple } from "../terms.ts";
import type { Message } from "./service.ts";

export function readDocument(metadata: Request, extracted: boolean): DocumentFields {
  const parent = optionalText(metadata, "parent-id", "");
  return {
    document_id: text(metadata, "id"),
    time: timeOf(metadata["time"]) ?? nowSeconds(),
    media_type: optionalText(metadata, "kind", "text/plain"),
    title: optionalText(metadata, "title", ""),
    comments: optionalText(metadata, "comments", ""),
    tags: [...(texts(metadata, "tags") ?? [])],
    metadata: triplesOf(metadata) ?? [],
    parent_id: parent === "" ? null : parent,
    document_type: optionalText(metadata, "document-type", extracted ? "extracted" : "source"),
  };
}

/** Omits absent fields; the older client names the id `document-id` here. */
export function readChange(metadata: Request): { readonly id: string; readonly change: LibraryDocumentChange } {
  const id = text(metadata, typeof metadata["id"] === "string" && metadata["id"] !== "" ? "id" : "document-id");
  const given = <K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> =>
    value === undefined ? {} : ({ [name]: value } as Record<K, V>);
  const textIn = (name: string) => (typeof metadata[name] === "string" ? metadata[name] : undefined);
  const tags = texts(metadata, "tags");
  return {
    id,
    change: {
      ...given("time", timeOf(metadata["time"])),
      ...given("media_type", textIn("kind")),
      ...given("title", textIn("title")),
      ...given("comments", textIn("comments")),
      ...given("tags", tags === undefined ? undefined : [...tags]),
      ...given("metadata", triplesOf(metadata)),
    },
  };
}

export function shownDocument({ workspace, typed, dialect }: Call, document: LibraryDocument): Message {
  const { document_id, time, media_type, title, comments, tags, metadata, parent_id, document_type } = document;
  return {
    id: document_id,
    time,
    kind: media_type,
    title,
    comments,
    metadata: metadata.map((triple) => writeTriple(triple, typed)),
    tags,
    user: workspace,
    ...(dialect === "old" ? {} : { workspace }),
    ...(typed ? { "parent-id": parent_id ?? "", "document-type": document_type } : {}),
  };
}

function triplesOf(metadata: Request): DocumentFields["metadata"] | undefined {
  return metadata["metadata"] === undefined || metadata["metadata"] === null
    ? undefined
    : readTriples(metadata, "metadata");
}

export function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  // Some programs send a date of their own as a string.
  const seconds = typeof value === "string" ? Date.parse(value) / 1_000 : value;
  if (typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0) return Math.trunc(seconds);
  throw invalid(`time: must be seconds since 1970, got ${show(value)}.`);
}

export function nowSeconds(): number {
  return Math.trunc(Date.now() / 1_000);
}
