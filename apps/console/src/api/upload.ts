/** Uploads one file with progress. fetch has no upload progress, so this call uses XMLHttpRequest instead of request.ts. */
import type { Document } from "@pinakes/client";
import { beginCall } from "./calls.ts";
import { collectionPath, type CollectionId } from "./collections.ts";
import { connectionLost } from "./connection.ts";
import { problemOf, UnreachableError } from "./problem.ts";
import { currentCsrfToken, post, toSignIn } from "./request.ts";

interface UploadOptions {
  /** Add it as the next version of the document with this name. */
  readonly replace: boolean;
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly onProgress: (sent: number) => void;
}

interface UploadAnswer {
  readonly documents: readonly Document[];
}

export function uploadFile(
  id: CollectionId,
  file: File,
  { replace, signal, onProgress }: UploadOptions,
): Promise<Document> {
  const path = `${collectionPath(id)}/documents`;
  const form = new FormData();
  // Form fields apply to the files that follow.
  if (replace) form.append("replace", "true");
  form.append("file", file, file.name);
  const ended = beginCall({
    method: "POST",
    path,
    body: undefined,
    contentType: undefined,
    form: [...(replace ? ["replace=true"] : []), `file=@${file.name}`],
  });
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    const end = (status: number) => {
      signal.removeEventListener("abort", abort);
      ended(status);
    };
    signal.addEventListener("abort", abort);
    xhr.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    xhr.addEventListener("load", () => {
      end(xhr.status);
      if (xhr.status === 401) toSignIn();
      const document = xhr.status < 300 ? (JSON.parse(xhr.responseText) as UploadAnswer).documents[0] : undefined;
      if (document === undefined) reject(problemOf(xhr.status, xhr.responseText));
      else resolve(document);
    });
    xhr.addEventListener("error", () => {
      end(0);
      connectionLost();
      reject(new UnreachableError("The server does not answer."));
    });
    xhr.addEventListener("abort", () => {
      end(0);
      reject(new DOMException("Cancelled", "AbortError"));
    });
    xhr.open("POST", path);
    xhr.setRequestHeader("accept", "application/json");
    const token = currentCsrfToken();
    if (token !== undefined) xhr.setRequestHeader("x-csrf-token", token);
    xhr.send(form);
  });
}

/**
 * Checks whether the server would accept a file of this name before the upload: rejecting a large upload midway breaks the connection, and
 * the reason would be lost. Requests an upload link that expires unused.
 */
export async function askWhetherTaken(
  id: CollectionId,
  name: string,
  replace: boolean,
  signal: AbortSignal,
): Promise<void> {
  await post(`${collectionPath(id)}/uploads`, { name, replace, expires_in_seconds: 1 }, { signal });
}
