/** Chunked uploads: the newer client uses them from 2 MiB on. */
import type { UploadStatus } from "../../../../knowledge/index.ts";
import { base64, integer, record, text } from "../fields.ts";
import { readDocument } from "./document-metadata.ts";
import type { Message, Operation, ServiceDependencies } from "./service.ts";

const bytesMax = Number.MAX_SAFE_INTEGER;

export function uploadOperations({ knowledge }: ServiceDependencies): {
  readonly reads: Readonly<Record<string, Operation>>;
  readonly writes: Readonly<Record<string, Operation>>;
} {
  const { uploads } = knowledge.library;
  const reads: Readonly<Record<string, Operation>> = {
    "get-upload-status": async ({ caller, request }) => {
      const status = await uploads.status(caller, text(request, "upload-id"));
      const { received, missing } = status;
      return {
        ...progress(status),
        "upload-state": status.state,
        "received-chunks": received,
        "missing-chunks": missing,
      };
    },
    "list-uploads": async ({ caller }) => ({ "upload-sessions": (await uploads.pending(caller)).map(session) }),
  };
  const writes: Readonly<Record<string, Operation>> = {
    "begin-upload": async ({ caller, request }) => {
      const document = readDocument(record(request, "document-metadata"), false);
      const totalBytes = integer(request, "total-size", { min: 1, max: bytesMax });
      const wanted = integer(request, "chunk-size", { min: 0, max: bytesMax, otherwise: 0 });
      const chunkBytes = wanted === 0 ? undefined : wanted;
      const upload = await uploads.begin(caller, document, { totalBytes, chunkBytes });
      return { "upload-id": upload.upload_id, "chunk-size": upload.chunk_bytes, "total-chunks": upload.chunks };
    },
    "upload-chunk": async ({ caller, request }) => {
      const id = text(request, "upload-id");
      const index = integer(request, "chunk-index", { min: 0, max: bytesMax, otherwise: 0 });
      const status = await uploads.addChunk(caller, id, index, base64(request["content"], "content"));
      return { ...progress(status), "chunk-index": index };
    },
    "complete-upload": async ({ caller, request }) => {
      const { document_id, file_id } = await uploads.complete(caller, text(request, "upload-id"));
      return { "document-id": document_id, "object-id": file_id };
    },
    "abort-upload": async ({ caller, request }) => {
      await uploads.abort(caller, text(request, "upload-id"));
      return {};
    },
  };
  return { reads, writes };
}

function progress({ upload, received, bytesReceived }: UploadStatus): Message {
  return {
    "upload-id": upload.upload_id,
    "chunks-received": received.length,
    "total-chunks": upload.chunks,
    "bytes-received": bytesReceived,
    "total-bytes": upload.total_bytes,
  };
}

function session({ upload, received }: UploadStatus): Message {
  const { document_id, title, media_type } = upload.document;
  return {
    "upload-id": upload.upload_id,
    "document-id": document_id,
    "document-metadata-json": JSON.stringify({ id: document_id, title, kind: media_type }),
    "total-size": upload.total_bytes,
    "chunk-size": upload.chunk_bytes,
    "total-chunks": upload.chunks,
    "chunks-received": received.length,
    "created-at": upload.created_at,
  };
}
