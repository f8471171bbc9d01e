/** Uploads the files of the store, three at a time, with an error for each failure. */
import type { CollectionId } from "../../api/collections.ts";
import { onHealed } from "../../api/connection.ts";
import { reindexDocument } from "../../api/document-parts.ts";
import { isProblem, UnreachableError } from "../../api/problem.ts";
import { askWhetherTaken, uploadFile } from "../../api/upload.ts";
import { refetchSoon } from "../../app/query-client.ts";
import { messageOf } from "../../ui/states.tsx";
import type { Document } from "@pinakes/client";
import { documentPath } from "../../api/documents.ts";
import { onEvent } from "../../api/events.ts";
import { get } from "../../api/request.ts";
import { renewCounts } from "../collections/use-fresh-counts.ts";
import { sizeProblem } from "./upload-limits.ts";
import {
  changeUpload,
  dropUploads,
  isOver,
  keepUploads,
  ownUploads,
  uploadOf,
  type Upload,
  allUploads,
} from "./upload-store.ts";

const atOnceMax = 3;
/** Files of this size are checked by name first. */
const askFirstBytes = 1_048_576;

const aborts = new Map<number, AbortController>();

/** `replace`: overwrite existing names without asking. */
export function addUploads(place: CollectionId, files: readonly File[], replace = false): void {
  const { rid, cid } = place;
  keepUploads(
    files.map((file) => {
      const reason = sizeProblem(file);
      return { rid, cid, file, sent: 0, replace, reason, state: reason === undefined ? "waiting" : "refused" };
    }),
  );
  pump();
}

export function cancelUpload(id: number): void {
  aborts.get(id)?.abort();
  const upload = uploadOf(id);
  if (upload?.state === "waiting" || upload?.state === "exists") changeUpload(id, { state: "cancelled" });
}

/** Uploads the file as the next version of the document with its name. */
export function replaceUpload(id: number): void {
  changeUpload(id, { state: "waiting", replace: true, sent: 0, reason: undefined });
  pump();
}

export function retryUpload(id: number): void {
  const upload = uploadOf(id);
  if (upload === undefined) return;
  // Uploaded files need not be sent again.
  if (upload.documentId !== undefined) void indexAgain(upload, upload.documentId);
  else changeUpload(id, { state: "waiting", sent: 0, reason: undefined, lost: undefined });
  pump();
}

export function clearUploads(of: readonly Upload[]): void {
  dropUploads(new Set(of.filter(isOver).map(({ id }) => id)));
}

onHealed(() => {
  for (const { id, lost } of ownUploads()) if (lost === true) retryUpload(id);
});

function pump(): void {
  const waiting = ownUploads().filter(({ state }) => state === "waiting");
  for (const upload of waiting.slice(0, Math.max(0, atOnceMax - aborts.size))) void send(upload);
}

async function send({ id, rid, cid, file, replace }: Upload): Promise<void> {
  const abort = new AbortController();
  const { signal } = abort;
  aborts.set(id, abort);
  changeUpload(id, { state: "sending", sent: 0 });
  try {
    if (file.size >= askFirstBytes) await askWhetherTaken({ rid, cid }, file.name, replace, signal);
    const document = await uploadFile({ rid, cid }, file, {
      replace,
      signal,
      onProgress: (sent) => changeUpload(id, { sent }),
    });
    const indexed = document.status === "indexed";
    changeUpload(id, { state: indexed ? "indexed" : "indexing", documentId: document.document_id, sent: 1 });
    followUploads();
    refetchSoon(["documents", document.repository_id, document.collection_id], [document.document_id]);
  } catch (error) {
    changeUpload(id, failureOf(error, signal));
  } finally {
    aborts.delete(id);
    pump();
  }
}

function failureOf(error: unknown, signal: AbortSignal): Partial<Upload> {
  if (signal.aborted) return { state: "cancelled" };
  if (isProblem(error, 409) && error.message.includes("replace=true")) return { state: "exists" };
  // A client error would repeat: not retried.
  if (isProblem(error, 400)) return { state: "refused", reason: error.message };
  return { state: "failed", reason: messageOf(error), lost: error instanceof UnreachableError };
}

async function indexAgain({ id, rid, cid }: Upload, did: string): Promise<void> {
  changeUpload(id, { state: "indexing", reason: undefined, progress: null, started: false });
  try {
    await reindexDocument({ rid, cid, did });
    followUploads();
  } catch (error) {
    changeUpload(id, { state: "failed", reason: messageOf(error) });
  }
}

const askMs = 2_500;
/** Polls the longest waiting ones; events cover the others. */
const askedAtOnceMax = 5;

let timer: ReturnType<typeof setTimeout> | undefined;

onEvent(({ type, resource, data }) => {
  if (type !== "document.status") return;
  const upload = allUploads().find(
    ({ state, documentId }) => state === "indexing" && documentId === resource.document_id,
  );
  if (upload !== undefined) told(upload, data as unknown as Told);
});

/**
 * Follows uploaded files: by events, and by polling in case an event was missed. Starts polling, and stops when nothing is left.
 */
function followUploads(): void {
  timer ??= setTimeout(() => void ask(), askMs);
}

async function ask(): Promise<void> {
  const asked = ownUploads().filter(({ state }) => state === "indexing");
  await Promise.all(asked.slice(0, askedAtOnceMax).map(askOne));
  timer = undefined;
  if (ownUploads().some(({ state }) => state === "indexing")) followUploads();
}

async function askOne(upload: Upload): Promise<void> {
  const { rid, cid, documentId = "" } = upload;
  try {
    told(upload, await get<Document>(documentPath({ rid, cid, did: documentId })));
  } catch (error) {
    // Deleted or no longer accessible. Other errors are transient, and polled again.
    if (isProblem(error, 404) || isProblem(error, 403))
      changeUpload(upload.id, { state: "failed", reason: messageOf(error), documentId: undefined });
  }
}

type Told = Pick<Document, "status" | "error" | "progress">;

function told({ id, rid, cid }: Upload, { status, error, progress }: Told): void {
  if (status === "indexed") changeUpload(id, { state: "indexed", progress: null });
  else if (status === "failed") changeUpload(id, { state: "failed", reason: error ?? undefined });
  else changeUpload(id, { progress, started: status === "indexing" });
  // In case the event was missed, refreshes the collection's counts.
  if (status === "indexed" || status === "failed") renewCounts({ repository_id: rid, collection_id: cid });
}
