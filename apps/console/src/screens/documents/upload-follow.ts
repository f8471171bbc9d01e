/** Follows uploaded files: by events, and by polling in case an event was missed. */
import type { Document } from "@pinakes/client";
import { documentPath } from "../../api/documents.ts";
import { onEvent } from "../../api/events.ts";
import { isProblem } from "../../api/problem.ts";
import { get } from "../../api/request.ts";
import { messageOf } from "../../ui/states.tsx";
import { renewCounts } from "../collections/use-fresh-counts.ts";
import { allUploads, changeUpload, ownUploads, type Upload } from "./upload-store.ts";

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

/** Starts polling, and stops when nothing is left. */
export function followUploads(): void {
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
