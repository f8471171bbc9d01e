/** The files on their way to the server. They stay here while the reader looks at other pages, and go on. */
import { useSyncExternalStore } from "react";
import { meOptions } from "../../api/identity.ts";
import type { CollectionId } from "../../api/collections.ts";
import { queryClient } from "../../app/query-client.ts";

/** `exists`: the name is taken, and the reader is to say what happens. `refused`: it was not even sent. */
type UploadState = "waiting" | "sending" | "exists" | "refused" | "indexing" | "indexed" | "failed" | "cancelled";

export interface Upload extends CollectionId {
  readonly id: number;
  /** Who added it: another person at the same browser does not see it. */
  readonly who: string;
  readonly file: File;
  readonly state: UploadState;
  /** From 0 to 1, while it is sent. */
  readonly sent: number;
  readonly replace: boolean;
  /** Why it stopped. */
  readonly reason?: string | undefined;
  /** There was no answer: it is tried again as soon as the server is back. */
  readonly lost?: boolean | undefined;
  readonly documentId?: string | undefined;
  /** The server has begun with it; until then it waits there. */
  readonly begun?: boolean | undefined;
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

/** Only these may be sent: a file goes in the session of who added it, or not at all. */
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
