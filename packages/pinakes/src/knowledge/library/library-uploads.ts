/** Documents that come in chunks, in any order and more than once each, until all are here. */
import type { Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { partIdOf, type FileUploads } from "../files/file-uploads.ts";
import { fileLimits } from "../files/limits.ts";
import { fileNameOf } from "./file-name.ts";
import { checkFields, type LibraryDocuments } from "./library-documents.ts";
import {
  itemId,
  prefixes,
  type DocumentFields,
  type LibraryChunk,
  type LibraryDocument,
  type LibraryUpload,
} from "./library-records.ts";
import type { LibraryStore } from "./library-store.ts";
import { libraryLimits } from "./limits.ts";

export interface UploadStatus {
  readonly upload: LibraryUpload;
  readonly state: LibraryUpload["state"] | "expired";
  readonly received: readonly number[];
  readonly missing: readonly number[];
  readonly bytesReceived: number;
}

export class LibraryUploads {
  readonly #store: LibraryStore;
  readonly #documents: LibraryDocuments;
  readonly #uploads: FileUploads;
  readonly #clock: Clock;

  constructor(parts: { store: LibraryStore; documents: LibraryDocuments; uploads: FileUploads; clock: Clock }) {
    this.#store = parts.store;
    this.#documents = parts.documents;
    this.#uploads = parts.uploads;
    this.#clock = parts.clock;
  }

  /** Chunks may be larger than asked for, so that there are not too many; the answer says how large. */
  async begin(
    caller: Caller,
    input: DocumentFields,
    { totalBytes, chunkBytes }: { readonly totalBytes: number; readonly chunkBytes: number | undefined },
  ): Promise<LibraryUpload> {
    const document = checkFields(input);
    if (!Number.isInteger(totalBytes) || totalBytes < 1 || totalBytes > fileLimits.bytesMax)
      throw invalid(`total-size: must be a whole number from 1 to ${fileLimits.bytesMax}, got ${show(totalBytes)}.`);
    const wanted = chunkBytes ?? libraryLimits.chunkBytesDefault;
    if (!Number.isInteger(wanted) || wanted < 1)
      throw invalid(`chunk-size: must be a whole number of bytes from 1, got ${show(chunkBytes)}.`);
    await this.#documents.requireFree(caller, document);
    // Half of the parts, so that as many can be sent again.
    const least = Math.ceil(totalBytes / (fileLimits.partsMax / 2));
    const size = Math.min(Math.max(wanted, least), fileLimits.partBytesMax);
    const upload = await this.#uploads.create(caller, {
      filename: fileNameOf(document),
      purpose: "user_data",
      bytes: totalBytes,
      mime_type: document.media_type === "" ? "application/octet-stream" : document.media_type,
    });
    return this.#store.create<"upload">(caller, {
      id: itemId.upload(upload.id),
      kind: "upload",
      upload_id: upload.id,
      document,
      total_bytes: totalBytes,
      chunk_bytes: size,
      chunks: Math.ceil(totalBytes / size),
      state: "in-progress",
      created_at: upload.created_at,
      expires_at: upload.expires_at,
      ttl: libraryLimits.uploadKeptSeconds,
    });
  }

  /** A chunk that is here already is kept as it is, so that a repetition changes nothing. */
  async addChunk(caller: Caller, uploadId: string, index: number, bytes: Uint8Array): Promise<UploadStatus> {
    const upload = await this.#pending(caller, uploadId);
    if (!Number.isInteger(index) || index < 0 || index >= upload.chunks)
      throw invalid(`chunk-index: must be a whole number from 0 to ${upload.chunks - 1}, got ${show(index)}.`);
    const wanted = index < upload.chunks - 1 ? upload.chunk_bytes : upload.total_bytes - index * upload.chunk_bytes;
    if (bytes.byteLength !== wanted)
      throw invalid(`content: chunk ${index} has ${bytes.byteLength} bytes, but it must have ${wanted}.`);
    const id = itemId.chunk(uploadId, index);
    if ((await this.#store.find(caller, "chunk", id)) === undefined) {
      const part = await this.#uploads.addPart(caller, uploadId, inOne(bytes));
      await this.#store.put<"chunk">(caller, {
        id,
        kind: "chunk",
        upload_id: uploadId,
        index,
        part_id: partIdOf(part),
        bytes: bytes.byteLength,
        ttl: libraryLimits.uploadKeptSeconds,
      });
    }
    return this.status(caller, uploadId);
  }

  async complete(caller: Caller, uploadId: string): Promise<LibraryDocument> {
    const upload = await this.#pending(caller, uploadId);
    const { missing } = await this.status(caller, uploadId);
    if (missing.length > 0)
      throw invalid(`upload-id: ${missing.length} of ${upload.chunks} chunks are missing, the first is ${missing[0]}.`);
    await this.#documents.requireFree(caller, upload.document);
    const chunks = await this.#chunks(caller, uploadId);
    const { file } = await this.#uploads.complete(caller, uploadId, { part_ids: chunks.map(({ part_id }) => part_id) });
    const document = await this.#documents.addFile(caller, upload.document, file);
    await this.#store.change(caller, "upload", upload.id, (record) => ({ ...record, state: "completed" as const }));
    await this.#forget(caller, chunks);
    return document;
  }

  async abort(caller: Caller, uploadId: string): Promise<void> {
    const upload = await this.#pending(caller, uploadId);
    await this.#uploads.cancel(caller, uploadId);
    await this.#forget(caller, await this.#chunks(caller, uploadId));
    await this.#store.remove(caller, upload.id);
  }

  async status(caller: Caller, uploadId: string): Promise<UploadStatus> {
    const upload = await this.#upload(caller, uploadId);
    const state = this.#stateOf(upload);
    if (state === "completed") {
      const received = Array.from({ length: upload.chunks }, (_, i) => i);
      return { upload, state, received, missing: [], bytesReceived: upload.total_bytes };
    }
    const chunks = await this.#chunks(caller, uploadId);
    const here = new Set(chunks.map(({ index }) => index));
    return {
      upload,
      state,
      received: [...here],
      missing: Array.from({ length: upload.chunks }, (_, i) => i).filter((i) => !here.has(i)),
      bytesReceived: chunks.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Those that can still be completed. */
  async pending(caller: Caller): Promise<readonly UploadStatus[]> {
    const found: UploadStatus[] = [];
    for (const upload of await this.#store.list(caller, "upload", prefixes.upload))
      if (this.#stateOf(upload) === "in-progress") found.push(await this.status(caller, upload.upload_id));
    return found;
  }

  async #upload(caller: Caller, uploadId: string): Promise<LibraryUpload> {
    if (!/^upload_[0-9a-f]{32}$/.test(uploadId))
      throw invalid(`upload-id: ${show(uploadId)} is not the id of an upload.`);
    return this.#store.get(caller, "upload", itemId.upload(uploadId), `upload ${show(uploadId)}`);
  }

  async #pending(caller: Caller, uploadId: string): Promise<LibraryUpload> {
    const upload = await this.#upload(caller, uploadId);
    const state = this.#stateOf(upload);
    if (state === "in-progress") return upload;
    throw invalid(`Upload ${show(uploadId)} is ${state}; start a new one.`);
  }

  #stateOf({ state, expires_at }: LibraryUpload): UploadStatus["state"] {
    return state === "in-progress" && Date.parse(expires_at) <= this.#clock.now() ? "expired" : state;
  }

  async #chunks(caller: Caller, uploadId: string): Promise<readonly LibraryChunk[]> {
    return this.#store.list(caller, "chunk", itemId.chunks(uploadId));
  }

  async #forget(caller: Caller, chunks: readonly LibraryChunk[]): Promise<void> {
    for (const { id } of chunks) await this.#store.remove(caller, id);
  }
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
