/**
 * Stores the documents of a test set in a separate collection, through regular uploads and ingestion. The collection's id is a hash of the
 * documents, the chunking and the model: a complete collection is reused; after an interrupted run only missing documents are sent.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../domain/caller.ts";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { PinakesError } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import { itemsOf } from "../runtime/pages.ts";
import type { EvaluatedKnowledge } from "./evaluated-knowledge.ts";
import type { CollectionView } from "../knowledge/views.ts";
import type { BeirSet } from "./beir.ts";

export interface StoredSet {
  readonly repository: string;
  readonly collection: string;
  /** Everything was already stored. */
  readonly reused: boolean;
  readonly seconds: number;
}

export interface StoreSetOptions {
  readonly chunking: ChunkingStrategy;
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The metadata field with the test set's id of a document. */
export const idField = "beir_id";
const repositoryId = "evaluations";
/** Incremented when documents are stored differently, so that older collections are not reused. */
const layout = 1;
const uploadsAtOnce = 8;
const pollMs = 200;
/** Ingestion without progress for this long has failed. */
const stalledMsMax = 600_000;

export async function storeSet(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  set: BeirSet,
  options: StoreSetOptions,
): Promise<StoredSet> {
  const began = performance.now();
  const collectionId = collectionIdOf(set, options.chunking, knowledge);
  const found = await openCollection(knowledge, caller, collectionId, set, options.chunking);
  const reused = found.documents_by_status.indexed === set.documents.length;
  if (!reused) {
    const there = found.document_count === 0 ? new Set<string>() : await underWay(knowledge, caller, collectionId);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const sent = uploadMissing(knowledge, caller, collectionId, set, there, signal);
    // If one fails, the other is aborted.
    await together(stop, [
      sent,
      indexed(knowledge, caller, collectionId, set, { sent, onProgress: options.onProgress, signal }),
    ]);
  }
  return { repository: repositoryId, collection: collectionId, reused, seconds: (performance.now() - began) / 1_000 };
}

async function together(stop: AbortController, parts: readonly Promise<void>[]): Promise<void> {
  const outcomes = parts.map((part) =>
    part.catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(outcomes);
  await Promise.all(outcomes);
}

function collectionIdOf(set: BeirSet, chunking: ChunkingStrategy, knowledge: EvaluatedKnowledge): string {
  const settings = JSON.stringify([layout, set.contentHash, chunking, knowledge.models[0]?.id]);
  return `beir-${hash("sha256", settings, "hex").slice(0, 32)}`;
}

async function openCollection(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  collectionId: string,
  set: BeirSet,
  chunking: ChunkingStrategy,
): Promise<CollectionView> {
  await unlessThere(() => knowledge.repositories.create(caller, { repository_id: repositoryId, name: "Evaluations" }));
  const description = `${set.documents.length} documents of a test set`;
  await unlessThere(() =>
    knowledge.collections.create(caller, repositoryId, {
      collection_id: collectionId,
      name: collectionId,
      description,
      chunking_strategy: chunking,
    }),
  );
  return knowledge.collections.get(caller, repositoryId, collectionId);
}

async function unlessThere(create: () => Promise<unknown>): Promise<void> {
  await tolerate(create(), "CONFLICT");
}

/** Names of the documents that an earlier run uploaded. */
async function underWay(knowledge: EvaluatedKnowledge, caller: Caller, collectionId: string): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const { name, status } of itemsOf((cursor) =>
    knowledge.documents.list(caller, repositoryId, collectionId, { limit: 100, cursor }),
  ))
    if (status !== "failed" && status !== "uploading") names.add(name);
  return names;
}

async function uploadMissing(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  collectionId: string,
  { documents }: BeirSet,
  there: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const pending = documents
    .map((document, i) => ({ ...document, name: `${i + 1}.txt` }))
    .filter(({ name }) => !there.has(name));
  const entries = pending.values();
  const upload = async (): Promise<void> => {
    for (const { id, text, name } of entries) {
      signal?.throwIfAborted();
      await knowledge.documents.upload(caller, repositoryId, collectionId, {
        name,
        body: bodyOf(text),
        metadata: { [idField]: id },
        replace: true,
      });
    }
  };
  await Promise.all(Array.from({ length: uploadsAtOnce }, upload));
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, "utf8");
}

interface Waiting {
  /** Until then a failed document of an earlier run may still be sent again. */
  readonly sent: Promise<void>;
  readonly onProgress: StoreSetOptions["onProgress"];
  readonly signal: AbortSignal;
}

async function indexed(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  collectionId: string,
  set: BeirSet,
  { sent, onProgress, signal }: Waiting,
): Promise<void> {
  const total = set.documents.length;
  let allSent = false;
  void sent.then(
    () => (allSent = true),
    () => {},
  );
  let last = { done: -1, at: performance.now() };
  for (;;) {
    signal.throwIfAborted();
    const mayFail = allSent;
    const { documents_by_status: by } = await knowledge.collections.get(caller, repositoryId, collectionId);
    if (mayFail && by.failed > 0) throw await failure(knowledge, caller, collectionId);
    if (by.indexed !== last.done) {
      last = { done: by.indexed, at: performance.now() };
      onProgress?.({ done: by.indexed, total });
    }
    invariant(by.indexed <= total, "INTERNAL", "a test set's collection contains only its documents");
    if (by.indexed === total) return;
    if (performance.now() - last.at > stalledMsMax)
      throw new PinakesError(
        "UNAVAILABLE",
        `No document was indexed for ${stalledMsMax / 60_000} minutes; ${by.indexed} of ${total} are. Is the ingestion running?`,
      );
    await sleep(pollMs, undefined, { signal });
  }
}

async function failure(knowledge: EvaluatedKnowledge, caller: Caller, collectionId: string): Promise<PinakesError> {
  const { items } = await knowledge.documents.list(caller, repositoryId, collectionId, { status: "failed", limit: 1 });
  const [first] = items;
  return new PinakesError(
    "INVALID",
    `Document ${JSON.stringify(first?.metadata[idField] ?? "")} could not be indexed: ${first?.error ?? "it was changed concurrently"}`,
  );
}
