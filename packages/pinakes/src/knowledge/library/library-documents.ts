/** Documents of a user's library, and which of them are processed into which collection. */
import type { Caller } from "../../domain/caller.ts";
import { hasCode, invalid, PinakesError, show } from "../../domain/errors.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../files/files.ts";
import { isoTime } from "../records/times.ts";
import { fileNameOf } from "./file-name.ts";
import {
  itemId,
  prefixes,
  type DocumentFields,
  type LibraryDocument,
  type LibraryProcessing,
} from "./library-records.ts";
import { checkLibraryId, checkTags, checkText, type LibraryStore } from "./library-store.ts";
import { libraryLimits } from "./limits.ts";

export type LibraryDocumentChange = Partial<Omit<DocumentFields, "document_id">>;

export class LibraryDocuments {
  readonly #store: LibraryStore;
  readonly #files: Files;
  readonly #clock: Clock;

  constructor({ store, files, clock }: { store: LibraryStore; files: Files; clock: Clock }) {
    this.#store = store;
    this.#files = files;
    this.#clock = clock;
  }

  /** An id that is taken is a CONFLICT, before a byte is read. */
  async add(caller: Caller, input: DocumentFields, body: AsyncIterable<Uint8Array>): Promise<LibraryDocument> {
    const fields = checkFields(input);
    await this.requireFree(caller, fields);
    const settings = async () => ({ purpose: "user_data" as const });
    const file = await this.#files.create(caller, { filename: fileNameOf(fields), body, settings });
    return this.addFile(caller, fields, file);
  }

  /** With a file that is there already, such as one that came in chunks; it is removed where the id is taken meanwhile. */
  async addFile(
    caller: Caller,
    fields: DocumentFields,
    file: { readonly id: string; readonly bytes: number },
  ): Promise<LibraryDocument> {
    try {
      return await this.#store.create<"document">(caller, {
        ...checkFields(fields),
        id: itemId.document(fields.document_id),
        kind: "document",
        file_id: file.id,
        bytes: file.bytes,
        created_at: isoTime(this.#clock.now()),
      });
    } catch (error) {
      await ifMissing(this.#files.delete(caller, file.id));
      throw hasCode(error, "CONFLICT") ? taken(fields.document_id) : error;
    }
  }

  async requireFree(caller: Caller, { document_id, parent_id }: DocumentFields): Promise<void> {
    if ((await this.#store.find(caller, "document", itemId.document(document_id))) !== undefined)
      throw taken(document_id);
    if (parent_id !== null) await this.get(caller, parent_id);
  }

  async get(caller: Caller, documentId: string): Promise<LibraryDocument> {
    const id = itemId.document(checkLibraryId(documentId, "document-id"));
    return this.#store.get(caller, "document", id, `document ${show(documentId)} in the library`);
  }

  async list(caller: Caller): Promise<readonly LibraryDocument[]> {
    return this.#store.list(caller, "document", prefixes.document);
  }

  async content(
    caller: Caller,
    documentId: string,
  ): Promise<{ readonly document: LibraryDocument; readonly body: AsyncIterable<Uint8Array> }> {
    const document = await this.get(caller, documentId);
    const { body } = await this.#files.content(caller, document.file_id);
    return { document, body };
  }

  async update(caller: Caller, documentId: string, change: LibraryDocumentChange): Promise<LibraryDocument> {
    await this.get(caller, documentId);
    return this.#store.change(caller, "document", itemId.document(documentId), (record) => ({
      ...record,
      ...checkFields({ ...record, ...change }),
    }));
  }

  /**
   * With its pages and chunks, its bytes, and what collections have of it: a document that is removed must not be found any more. Other
   * documents of those collections stay.
   */
  async remove(caller: Caller, documentId: string): Promise<void> {
    const document = await this.get(caller, documentId);
    for (const { document_id, parent_id } of await this.list(caller))
      if (parent_id === documentId && document_id !== documentId) await ifMissing(this.remove(caller, document_id));
    for (const { document_id, id } of await this.processings(caller))
      if (document_id === documentId) await this.#store.remove(caller, id);
    await ifMissing(this.#files.delete(caller, document.file_id));
    await this.#store.remove(caller, document.id);
  }

  async addProcessing(
    caller: Caller,
    input: Pick<LibraryProcessing, "processing_id" | "document_id" | "time" | "flow" | "collection_id" | "tags">,
  ): Promise<LibraryProcessing> {
    const { processing_id, document_id, time, flow, collection_id, tags } = input;
    const id = itemId.processing(checkLibraryId(processing_id, "processing-metadata.id"));
    await this.get(caller, document_id);
    try {
      return await this.#store.create<"processing">(caller, {
        id,
        kind: "processing",
        processing_id,
        document_id,
        time,
        flow: checkLibraryId(flow, "flow"),
        collection_id,
        tags: checkTags(tags),
      });
    } catch (error) {
      if (!hasCode(error, "CONFLICT")) throw error;
      throw new PinakesError("CONFLICT", `Processing ${show(processing_id)} already exists; use another id.`, {
        cause: error,
      });
    }
  }

  async hasProcessing(caller: Caller, processingId: string): Promise<boolean> {
    const id = itemId.processing(checkLibraryId(processingId, "processing-id"));
    return (await this.#store.find(caller, "processing", id)) !== undefined;
  }

  /** What the collection has of the document stays. */
  async removeProcessing(caller: Caller, processingId: string): Promise<void> {
    const id = itemId.processing(checkLibraryId(processingId, "processing-id"));
    await this.#store.get(caller, "processing", id, `processing ${show(processingId)}`);
    await this.#store.remove(caller, id);
  }

  async processings(caller: Caller): Promise<readonly LibraryProcessing[]> {
    return this.#store.list(caller, "processing", prefixes.processing);
  }
}

export function checkFields(fields: DocumentFields): DocumentFields {
  const { titleCharsMax, commentsCharsMax, metadataTriplesMax, metadataCharsMax, tagCharsMax } = libraryLimits;
  const { document_id, time, media_type, title, comments, tags, metadata, parent_id, document_type } = fields;
  if (!Number.isSafeInteger(time) || time < 0) throw invalid(`time: must be seconds since 1970, got ${show(time)}.`);
  if (metadata.length > metadataTriplesMax || JSON.stringify(metadata).length > metadataCharsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `metadata: has more than ${metadataTriplesMax} triples or ${metadataCharsMax} characters.`,
    );
  return {
    document_id: checkLibraryId(document_id, "id"),
    time,
    media_type: checkText(media_type, "kind", tagCharsMax),
    title: checkText(title, "title", titleCharsMax),
    comments: checkText(comments, "comments", commentsCharsMax),
    tags: checkTags(tags),
    metadata,
    parent_id: parent_id === null ? null : checkLibraryId(parent_id, "parent-id"),
    document_type: checkText(document_type, "document-type", tagCharsMax),
  };
}

function taken(documentId: string): PinakesError {
  return new PinakesError("CONFLICT", `Document ${show(documentId)} already exists in the library; use another id.`);
}
