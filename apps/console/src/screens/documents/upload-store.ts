/** Uploads in progress. They continue while other pages are shown. */
import { useSyncExternalStore } from "react";
import { meOptions } from "../../api/identity.ts";
import type { CollectionId } from "../../api/collections.ts";
import { queryClient } from "../../app/query-client.ts";

/** `exists`: the name exists, and the user must choose. `refused`: not sent at all. */
type UploadState = "waiting" | "sending" | "exists" | "refused" | "indexing" | "indexed" | "failed" | "cancelled";

export interface Upload extends CollectionId {
  readonly id: number;
  /** The uploading user: other users of the same browser do not see it. */
  readonly who: string;
  readonly file: File;
  readonly state: UploadState;
  /** From 0 to 1, during the upload. */
  readonly sent: number;
  readonly replace: boolean;
  readonly reason?: string | undefined;
  /** No response: retried after a reconnect. */
  readonly lost?: boolean | undefined;
  readonly documentId?: string | undefined;
  /** The server has started processing it. */
  readonly started?: boolean | undefined;
  readonly progress?: { readonly done: number; readonly total: number } | null | undefined;
}

let uploads: readonly Upload[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function useUploads(): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, allUploads);
  const who = whoIsHere();
  return all.every((one) => one.who === who) ? all : all.filter((one) => one.who === who);
}

export function allUploads(): readonly Upload[] {
  return uploads;
}

/** Only these are sent: a file is only sent in the session of the user who added it. */
export function ownUploads(): readonly Upload[] {
  const who = whoIsHere();
  return uploads.filter((one) => one.who === who);
}

export function uploadOf(id: number): Upload | undefined {
  return uploads.find((one) => one.id === id);
}

export function keepUploads(added: readonly Omit<Upload, "id" | "who">[]): void {
  const who = whoIsHere();
  set([
    ...uploads,
    ...added.map((one) => {
      lastId += 1;
      return { ...one, id: lastId, who };
    }),
  ]);
}

export function changeUpload(id: number, change: Partial<Upload>): void {
  set(uploads.map((one) => (one.id === id ? { ...one, ...change } : one)));
}

export function dropUploads(ids: ReadonlySet<number>): void {
  set(uploads.filter(({ id }) => !ids.has(id)));
}

export function isOver({ state }: Upload): boolean {
  return state === "indexed" || state === "failed" || state === "refused" || state === "cancelled";
}

export function isProblem({ state }: Upload): boolean {
  return state === "failed" || state === "refused" || state === "exists";
}

function whoIsHere(): string {
  const me = queryClient.getQueryData(meOptions.queryKey);
  return me === undefined ? "" : `${me.workspace_id} ${me.user_id}`;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: readonly Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}
