/** What an upload sends, and all of its checks that need no bytes. */
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import { invalid, show } from "../../domain/errors.ts";
import { fileTypeOf, fileTypes, type FileType } from "../../domain/file-type.ts";
import type { JsonObject } from "../../domain/json.ts";
import { readChunkingStrategy } from "../chunking/index.ts";
import { knowledgeLimits } from "../limits.ts";
import { changedAccess, readAccess, type AccessInput } from "../access/document-access.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { uploadUri } from "../records/ids.ts";
import type { Stored } from "../records/catalog-records.ts";
import { checkFileName } from "../records/names.ts";
import { ruledAccess } from "../records/access-rules.ts";
import type { DocumentAccess, DocumentRecord, DocumentSource, RepositoryRecord } from "../records/records.ts";
import { requireTaking } from "../records/taking.ts";
import { checkDocumentMetadata } from "./document-metadata.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";

/** Access fields that are absent stay as they are when a document is replaced. */
export interface UploadInput extends AccessInput {
  readonly name: string;
  /** A stream, or bytes or text in memory. */
  readonly body: AsyncIterable<Uint8Array> | Uint8Array | string;
  readonly metadata?: unknown;
  /** Used and recorded, if the collection allows it. */
  readonly chunking_strategy?: unknown;
  /** Replace the document with this name (or source). Otherwise that is a CONFLICT. */
  readonly replace?: boolean | undefined;
  readonly source?: DocumentSource;
  readonly job_id?: string | undefined;
}

/** The source of a file from a folder: `a/x.md` and `b/x.md` are two documents. */
export function uploadedFrom(path: string | undefined): Pick<UploadInput, "source"> {
  if (path === undefined) return {};
  // A name contains no "/", so this never equals the source of an upload by name.
  if (!path.includes("/"))
    throw invalid(
      `path: must have a folder, such as a/x.md; got ${JSON.stringify(path)}. Omit it for a file without one.`,
    );
  return { source: { type: "manual", uri: uploadUri(path) } };
}

export interface UploadResult extends Stored<DocumentRecord> {
  /** The same bytes and settings as before: nothing was done. */
  readonly unchanged: boolean;
  /** Another document of the collection with the same bytes. */
  readonly duplicate_of?: string;
}

/** File types accepted in personal repositories. */
const catalogTypes: readonly FileType[] = ["pdf", "docx", "txt", "md", "csv"];

export interface CheckedUpload {
  readonly name: string;
  readonly source: DocumentSource;
  readonly fileType: FileType;
  readonly override: ChunkingStrategy | null;
  readonly metadata: JsonObject;
  /** Its access, from that of the document which it replaces: what the upload does not name stays. */
  readonly accessAfter: (before: DocumentAccess | undefined) => DocumentAccess | undefined;
}

/** All checks that need no bytes. */
export function checkUpload(opened: OpenCollection, input: Omit<UploadInput, "body">): CheckedUpload {
  const { repository, collection } = opened;
  requireTaking(repository);
  if (collection.status === "ARCHIVED") throw archived(collection);
  const name = checkFileName(input.name);
  const source = input.source ?? { type: "manual", uri: uploadUri(name) };
  if (source.uri.length > knowledgeLimits.sourceCharsMax)
    throw invalid(`source: has more than ${knowledgeLimits.sourceCharsMax} characters.`);
  let override: ChunkingStrategy | null = null;
  if (input.chunking_strategy !== undefined && input.chunking_strategy !== null) {
    // A pipeline's chunking is a setting of the collection.
    if (!collection.allow_chunking_override && source.type !== "auto")
      throw invalid(
        `chunking_strategy: collection "${collection.collection_id}" does not allow an override (allow_chunking_override is false).`,
      );
    override = readChunkingStrategy(input.chunking_strategy, "chunking_strategy");
  }
  const metadata = checkDocumentMetadata(input.metadata ?? {});
  const change = readAccess(input, opened);
  return {
    name,
    source,
    override,
    fileType: typeOf(name, repository),
    metadata,
    accessAfter: (before) => ruledAccess(changedAccess(before, change), collection, metadata),
  };
}

export function contentKey(partition: CollectionPartition, documentId: string, version: number): string {
  return `${partition.prefix}${documentId}/${version}/content`;
}

export function typeOf(name: string, { owner }: RepositoryRecord): FileType {
  const allowed = owner === null ? fileTypes : catalogTypes;
  const found = fileTypeOf(name);
  if (found !== undefined && allowed.includes(found)) return found;
  throw invalid(`${show(name)}: this file type is not accepted; accepted are ${allowed.join(", ")}.`, {
    reason: "file_type_not_accepted",
  });
}
