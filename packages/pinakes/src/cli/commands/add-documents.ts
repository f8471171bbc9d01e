/**
 * Uploads files to a collection, several at a time, and waits until all are indexed: by the server, if one is used, otherwise by this
 * process.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Document, NewDocument } from "@pinakes/client";
import type { FoundFile } from "./find-files.ts";
import type { ClientSession } from "../client-session.ts";
import type { Address } from "../session.ts";

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
  /** The bytes are stored durably. */
  readonly stored: number;
  /** Indexed, unchanged or failed. */
  readonly over: number;
  readonly failed: number;
  /** Counts indexed documents, and partially indexed ones by their progress. */
  readonly passages: number;
}

export interface AddedFile {
  readonly path: string;
  readonly place: string;
  /** `left`: not started, or not awaited, because of Ctrl-C or --no-wait. */
  readonly outcome: "indexed" | "unchanged" | "failed" | "left";
  readonly reason?: string;
  readonly code?: string;
  readonly document?: Document;
}

const uploadsAtOnce = 4;
const pollMs = 150;
const tellMs = 100;
/** Documents polled per round, roughly in ingestion order. */
const watchedAtOnce = 32;

export async function addDocuments(
  session: ClientSession,
  files: readonly FoundFile[],
  options: AddOptions,
): Promise<readonly AddedFile[]> {
  const added = new Map<FoundFile, AddedFile>();
  const waiting = new Map<FoundFile, Document>();
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
  const [first, ...others] = files;
  if (first !== undefined) await upload(first);
  checkFirst(first === undefined ? undefined : added.get(first));
  const uploads = inPlaces(others, uploadsAtOnce, options.signal, upload).finally(() => {
    uploading.value = false;
  });
  const watched = options.wait ? watch(session, { added, waiting, uploading, tell }, options) : Promise.resolve();
  await Promise.all([uploads, watched]);
  options.onProgress(progressOf(files.length, stored, added, waiting));
  return files.map(
    (file) =>
      added.get(file) ?? {
        path: file.path,
        place: file.place,
        outcome: "left" as const,
        ...documentOf(waiting.get(file)),
      },
  );
}

/** A missing or invisible collection is an error of the command, not of each file. */
function checkFirst({ code, reason = "" }: Partial<AddedFile> = {}): void {
  if (code === "NOT_FOUND" || code === "FORBIDDEN") throw new PinakesError(code, reason);
}

function documentOf(document: Document | undefined): { readonly document?: Document } {
  return document === undefined ? {} : { document };
}

/** After Ctrl-C, running uploads end and no new one starts. */
async function inPlaces(
  files: readonly FoundFile[],
  places: number,
  signal: AbortSignal,
  work: (file: FoundFile) => Promise<void>,
): Promise<void> {
  const left = files.values();
  const place = async (): Promise<void> => {
    for (const file of left) {
      if (signal.aborted) return;
      await work(file);
    }
  };
  await Promise.all(Array.from({ length: places }, place));
}

async function uploadOne(
  { knowledge }: ClientSession,
  file: FoundFile,
  options: AddOptions,
): Promise<AddedFile | { readonly document: Document }> {
  try {
    const { unchanged, ...document } = await knowledge.documents.upload(options.address, {
      name: file.name,
      body: createReadStream(file.path),
      replace: options.replace,
      ...(options.metadata === undefined ? {} : { metadata: options.metadata as NewDocument["metadata"] }),
      ...(options.chunking === undefined
        ? {}
        : { chunking_strategy: options.chunking as NewDocument["chunking_strategy"] }),
      ...(file.place === file.name ? {} : { path: file.place }),
    });
    return unchanged === true ? { path: file.path, place: file.place, outcome: "unchanged", document } : { document };
  } catch (error) {
    return failure(file, error);
  }
}

function failure(file: FoundFile, error: unknown): AddedFile {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    path: file.path,
    place: file.place,
    outcome: "failed",
    reason,
    ...(PinakesError.isInstance(error) ? { code: error.code } : {}),
  };
}

interface Watched {
  readonly added: Map<FoundFile, AddedFile>;
  readonly waiting: Map<FoundFile, Document>;
  readonly uploading: { readonly value: boolean };
  readonly tell: () => void;
}

/** Polls pending documents until none is left. */
async function watch(
  session: ClientSession,
  { added, waiting, uploading, tell }: Watched,
  { address, signal }: AddOptions,
): Promise<void> {
  const isOver = () => signal.aborted || (!uploading.value && waiting.size === 0);
  while (!isOver()) {
    const looked = await Promise.all(
      [...waiting].slice(0, watchedAtOnce).map(([file, document]) => look(session, address, file, document)),
    );
    for (const { file, document, ended } of looked) {
      waiting.delete(file);
      if (ended === undefined) waiting.set(file, document);
      else added.set(file, ended);
    }
    tell();
    const went = looked.filter(({ ended }) => ended !== undefined).length;
    // If many have ended, more have: poll again without a pause.
    if (!isOver() && went * 2 <= watchedAtOnce) await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

interface Looked {
  readonly file: FoundFile;
  readonly document: Document;
  readonly ended?: AddedFile;
}

async function look(
  { knowledge }: ClientSession,
  address: Address,
  file: FoundFile,
  before: Document,
): Promise<Looked> {
  const { path, place } = file;
  try {
    const document = await knowledge.documents.get(address, before.document_id);
    if (document.status === "indexed") return { file, document, ended: { path, place, outcome: "indexed", document } };
    if (document.status !== "failed") return { file, document };
    return { file, document, ended: { path, place, outcome: "failed", reason: document.error ?? "", document } };
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw error;
    return {
      file,
      document: before,
      ended: { path, place, outcome: "failed", reason: "It was deleted concurrently.", code: error.code },
    };
  }
}

function progressOf(
  files: number,
  stored: number,
  added: ReadonlyMap<FoundFile, AddedFile>,
  waiting: ReadonlyMap<FoundFile, Document>,
): AddProgress {
  let passages = 0;
  let failed = 0;
  for (const { outcome, document } of added.values()) {
    if (outcome === "failed") failed += 1;
    if (outcome === "indexed") passages += document?.chunk_count ?? 0;
  }
  for (const { progress } of waiting.values()) passages += progress?.done ?? 0;
  return { files, stored, over: added.size, failed, passages };
}
