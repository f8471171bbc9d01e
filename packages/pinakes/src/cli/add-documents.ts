/**
 * Files into a collection: uploads several at a time and waits until all are indexed. This process ingests them, together with a server
 * where one runs.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { DocumentView } from "../knowledge/index.ts";
import { placeKey, type FoundFile } from "./find-files.ts";
import type { Address, Session } from "./session.ts";

export interface AddOptions {
  readonly address: Address;
  readonly replace: boolean;
  readonly metadata: JsonValue | undefined;
  readonly chunking: JsonValue | undefined;
  readonly wait: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: AddProgress) => void;
}

export interface AddProgress {
  readonly files: number;
  /** Their bytes are safe. */
  readonly stored: number;
  /** Indexed, unchanged or failed. */
  readonly over: number;
  readonly failed: number;
  /** Of the documents that are indexed, and of those under way as far as they are. */
  readonly passages: number;
}

export interface AddedFile {
  readonly path: string;
  readonly place: string;
  /** `left`: not begun, or not waited for, because of Ctrl-C or --no-wait. */
  readonly outcome: "indexed" | "unchanged" | "failed" | "left";
  readonly reason?: string;
  readonly code?: string;
  readonly document?: DocumentView;
}

const uploadsAtOnce = 4;
const pollMs = 150;
const tellMs = 100;
/** Documents looked at in one round; they are worked on roughly in this order. */
const watchedAtOnce = 32;

export async function addDocuments(session: Session, files: readonly FoundFile[], options: AddOptions): Promise<readonly AddedFile[]> {
  const added = new Map<FoundFile, AddedFile>();
  const waiting = new Map<FoundFile, DocumentView>();
  let stored = 0;
  let toldAt = -Infinity;
  const tell = () => {
    const now = performance.now();
    if (now - toldAt < tellMs) return;
    toldAt = now;
    options.onProgress(progressOf(files.length, stored, added, waiting));
  };
  const uploading = { value: true };
  const upload = async (file: FoundFile): Promise<void> => {
    const result = await uploadOne(session, file, options);
    if ("outcome" in result) added.set(file, result);
    else waiting.set(file, result.document);
    stored += 1;
    tell();
  };
  tell();
  const uploads = inPlaces(files, uploadsAtOnce, options.signal, upload).finally(() => {
    uploading.value = false;
  });
  const watched = options.wait ? watch(session, { added, waiting, uploading, tell }, options) : Promise.resolve();
  await Promise.all([uploads, watched]);
  options.onProgress(progressOf(files.length, stored, added, waiting));
  return files.map((file) => added.get(file) ?? { path: file.path, place: file.place, outcome: "left" as const, ...documentOf(waiting.get(file)) });
}

function documentOf(document: DocumentView | undefined): { readonly document?: DocumentView } {
  return document === undefined ? {} : { document };
}

/** After Ctrl-C what is under way ends, and nothing new begins. */
async function inPlaces(files: readonly FoundFile[], places: number, signal: AbortSignal, work: (file: FoundFile) => Promise<void>): Promise<void> {
  const left = files.values();
  const place = async (): Promise<void> => {
    for (const file of left) {
      if (signal.aborted) return;
      await work(file);
    }
  };
  await Promise.all(Array.from({ length: places }, place));
}

async function uploadOne({ knowledge, caller }: Session, file: FoundFile, options: AddOptions): Promise<AddedFile | { readonly document: DocumentView }> {
  const { repository, collection } = options.address;
  try {
    const { unchanged, ...document } = await knowledge.upload(caller, repository, collection, {
      name: file.name,
      body: createReadStream(file.path),
      replace: options.replace,
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
      ...(options.chunking === undefined ? {} : { chunking_strategy: options.chunking }),
      // A name has no "/", so this is never another's upload by name.
      ...(file.place === file.name ? {} : { source: { type: "manual", uri: `upload:${placeKey(file.place)}` } as const }),
    });
    return unchanged === true ? { path: file.path, place: file.place, outcome: "unchanged", document } : { document };
  } catch (error) {
    return failure(file, error);
  }
}

function failure(file: FoundFile, error: unknown): AddedFile {
  const reason = error instanceof Error ? error.message : String(error);
  return { path: file.path, place: file.place, outcome: "failed", reason, ...(PinakesError.isInstance(error) ? { code: error.code } : {}) };
}

interface Watched {
  readonly added: Map<FoundFile, AddedFile>;
  readonly waiting: Map<FoundFile, DocumentView>;
  readonly uploading: { readonly value: boolean };
  readonly tell: () => void;
}

/** Looks at the documents that are on their way until none is. */
async function watch(session: Session, { added, waiting, uploading, tell }: Watched, { address, signal }: AddOptions): Promise<void> {
  const isOver = () => signal.aborted || (!uploading.value && waiting.size === 0);
  while (!isOver()) {
    const looked = await Promise.all([...waiting].slice(0, watchedAtOnce).map(([file, document]) => look(session, address, file, document)));
    for (const { file, document, ended } of looked) {
      waiting.delete(file);
      if (ended === undefined) waiting.set(file, document);
      else added.set(file, ended);
    }
    tell();
    const went = looked.filter(({ ended }) => ended !== undefined).length;
    // Where many ended, more have: no pause.
    if (!isOver() && went * 2 <= watchedAtOnce) await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

interface Looked {
  readonly file: FoundFile;
  readonly document: DocumentView;
  readonly ended?: AddedFile;
}

async function look({ knowledge, caller }: Session, address: Address, file: FoundFile, before: DocumentView): Promise<Looked> {
  const { path, place } = file;
  try {
    const document = await knowledge.document(caller, address.repository, address.collection, before.document_id);
    if (document.status === "indexed") return { file, document, ended: { path, place, outcome: "indexed", document } };
    if (document.status !== "failed") return { file, document };
    return { file, document, ended: { path, place, outcome: "failed", reason: document.error ?? "", document } };
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.code !== "NOT_FOUND") throw error;
    return { file, document: before, ended: { path, place, outcome: "failed", reason: "It was deleted meanwhile.", code: error.code } };
  }
}

function progressOf(files: number, stored: number, added: ReadonlyMap<FoundFile, AddedFile>, waiting: ReadonlyMap<FoundFile, DocumentView>): AddProgress {
  let passages = 0;
  let failed = 0;
  for (const { outcome, document } of added.values()) {
    if (outcome === "failed") failed += 1;
    if (outcome === "indexed") passages += document?.chunk_count ?? 0;
  }
  for (const { progress } of waiting.values()) passages += progress?.done ?? 0;
  return { files, stored, over: added.size, failed, passages };
}
