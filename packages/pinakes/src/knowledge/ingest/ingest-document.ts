/**
 * One document from bytes to passages that can be found (RFC 0005, "Ingestion"). Every step can be repeated: passages have ids of
 * their run, and nothing of a run is visible before the batch that makes it the live one.
 */
import type { Chunk, ChunkingStrategy } from "../../domain/chunking.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "../chunking/index.ts";
import type { Shelf } from "../documents/shelf.ts";
import { contentKey } from "../documents/upload.ts";
import { effectiveChunking } from "../model/collection-fields.ts";
import type { Library, Stored } from "../model/library.ts";
import { itemIds, type ChunkRange, type CollectionRecord, type DocumentRecord, type IndexedVersion, type RepositoryRecord, type VersionInfo } from "../model/records.ts";
import { isoTime } from "../model/times.ts";
import type { KnowledgeParts } from "../parts.ts";
import { saveParsedText } from "./parsed-text.ts";
import { appendRows, chunkId, deleteChunks } from "./passages.ts";
import { removal, removeLeftovers, unfinishedChunks } from "./removals.ts";

/** Tries of one run, after which the document has failed. */
export const attemptsMax = 5;
const embedTextsMax = 32;
const rowsPerDelta = 512;
const progressMs = 1_000;

/** Somebody changed or deleted the document meanwhile: this run is over. */
export class Overtaken extends Error {}

export interface Ingestion {
  readonly shelf: Shelf;
  readonly documentId: string;
  readonly run: number;
  readonly signal: AbortSignal;
  /** Keeps the message of this document. */
  readonly alive: () => Promise<void>;
}

export class DocumentIngester {
  readonly #parts: KnowledgeParts;
  readonly #library: Library;

  constructor(parts: KnowledgeParts, library: Library) {
    this.#parts = parts;
    this.#library = library;
  }

  /** Throws what stood in the way; the worker decides whether to try again. */
  async ingest(work: Ingestion): Promise<DocumentRecord | undefined> {
    const begun = await this.#begin(work);
    if (begun === undefined) return undefined;
    const { repository, collection } = await this.#owners(work.shelf);
    const strategy = begun.current.record.chunking_override ?? effectiveChunking(repository, collection);
    const parsed = await this.#parse(work, begun.current.record);
    const chunks = await this.#chunk(parsed, strategy, collection, work.signal);
    try {
      await this.#index(work, begun, chunks, repository, collection);
      return await this.#finish(work, begun, strategy, chunks.length);
    } catch (error) {
      if (error instanceof Overtaken) await this.#takeBack(work, { run: work.run, chunk_count: chunks.length, generation: begun.generation });
      throw error;
    }
  }

  /** Who replaced or deleted the document could not know of the passages that were stored after that. */
  async #takeBack(work: Ingestion, range: ChunkRange): Promise<void> {
    const found = await work.shelf.read(work.documentId);
    // Another worker of the same run writes the very same passages.
    if (found?.record.run === work.run) return;
    await deleteChunks(this.#parts, work.shelf, work.documentId, [range]);
  }

  /** Says that the document has failed, for good. */
  async fail(work: Ingestion, reason: string): Promise<void> {
    const found = await work.shelf.read(work.documentId);
    if (found === undefined || found.record.run !== work.run || isOver(found.record)) return;
    const { record, etag } = found;
    const now = this.#parts.clock.now();
    const next: DocumentRecord = { ...record, status: "failed", error: reason, progress: null, touched_at: now };
    const { generation } = (await work.shelf.fence())?.record ?? { generation: 1 };
    const chunks = unfinishedChunks(record, generation);
    await work.shelf.write([
      this.#replace(work, next, etag),
      work.shelf.move({ from: record.status, to: "failed", syncedAt: this.#now() }),
      ...(chunks.length === 0 ? [] : [removal(work.shelf, record, "failed", { chunks, now })]),
    ]);
    if (chunks.length > 0) await removeLeftovers(this.#parts, work.shelf);
  }

  /** Remembers why a try failed; the document stays on its way. */
  async note(work: Ingestion, reason: string): Promise<void> {
    const found = await work.shelf.read(work.documentId);
    if (found === undefined || found.record.run !== work.run || isOver(found.record)) return;
    await work.shelf.write([this.#replace(work, { ...found.record, error: reason, touched_at: this.#parts.clock.now() }, found.etag)]);
  }

  async #begin(work: Ingestion): Promise<Begun | undefined> {
    const found = await work.shelf.read(work.documentId);
    if (found === undefined || found.record.run !== work.run || isOver(found.record) || found.record.status === "uploading") return undefined;
    const fence = await work.shelf.fence();
    if (fence?.record.status !== "ACTIVE") return undefined;
    const { record } = found;
    if (record.attempts >= attemptsMax) {
      await this.fail(work, record.error ?? `Given up after ${record.attempts} tries that ended without a word: the file may be too much for this machine.`);
      return undefined;
    }
    const next: DocumentRecord = {
      ...record,
      status: "indexing",
      attempts: record.attempts + 1,
      // How many passages a former try may have stored stays known.
      progress: record.progress === null ? null : { done: 0, total: record.progress.total },
      touched_at: this.#parts.clock.now(),
    };
    const { results } = await work.shelf.write([
      this.#replace(work, next, found.etag),
      ...(record.status === "indexing" ? [] : [work.shelf.move({ from: record.status, to: "indexing" })]),
    ]);
    return {
      current: { record: next, etag: results[1]?.etag as string },
      generation: fence.record.generation,
      formerTotal: record.progress?.total ?? 0,
      toldAt: this.#parts.clock.now(),
    };
  }

  async #owners(shelf: Shelf): Promise<{ repository: RepositoryRecord; collection: CollectionRecord }> {
    const { repository_id, collection_id, incarnation } = shelf.place;
    const [repository, collection] = await this.#library.both(shelf.scope, repository_id, collection_id);
    if (repository === undefined || collection === undefined || collection.record.incarnation !== incarnation) throw new Overtaken("the collection is gone");
    return { repository: repository.record, collection: collection.record };
  }

  async #parse(work: Ingestion, record: DocumentRecord): Promise<ParsedText> {
    const { version } = newestVersion(record);
    const bytes = await this.#parts.objects.get(work.shelf.scope, contentKey(work.shelf, record.document_id, version), { signal: work.signal });
    if (bytes === undefined) throw invalid("The bytes of the document are not in the object store any more. Upload it again.");
    const parsed = await this.#parts.parser.parse({ bytes, fileType: record.file_type }, { signal: work.signal });
    await saveParsedText(this.#parts.objects, work.shelf, { document_id: record.document_id, version }, parsed);
    await work.alive();
    return parsed;
  }

  async #chunk(parsed: ParsedText, strategy: ChunkingStrategy, collection: CollectionRecord, signal: AbortSignal): Promise<readonly Chunk[]> {
    const embedder = await this.#parts.embedders.get(collection.embedding_model);
    const tokenizer = await this.#parts.tokenizer();
    const chunks = await chunkDocument(parsed, strategy, { tokenizer, embed: (texts) => embedder.embed(texts, { signal }), signal });
    if (chunks.length === 0) throw invalid("The document holds no text.");
    return chunks;
  }

  /** Embeds and stores passage after passage, so that memory stays small however long the document is. */
  async #index(work: Ingestion, begun: Begun, chunks: readonly Chunk[], repository: RepositoryRecord, collection: CollectionRecord): Promise<void> {
    const embedder = await this.#parts.embedders.get(collection.embedding_model);
    const target = work.shelf.vectors(begun.generation);
    await this.#parts.vectors.create(work.shelf.scope, target, { dims: embedder.model.dims, metric: embedder.model.metric });
    await this.#tell(work, begun, { done: 0, total: chunks.length }, true);
    for (let at = 0, part = 0; at < chunks.length; at += rowsPerDelta, part += 1) {
      const slice = chunks.slice(at, at + rowsPerDelta);
      const vectors: Float32Array[] = [];
      for (let from = 0; from < slice.length; from += embedTextsMax) {
        const texts = slice.slice(from, from + embedTextsMax).map(embeddedText);
        vectors.push(...(await embedder.embed(texts, { kind: "document", signal: work.signal })));
        await this.#tell(work, begun, { done: at + vectors.length, total: chunks.length });
      }
      const { record } = begun.current;
      const upsert = slice.map((chunk, i) => ({
        id: chunkId(record.document_id, record.run, chunk.index),
        vector: vectors[i] as Float32Array,
        text: chunk.text,
        metadata: passageMetadata(record, chunk, repository.owner ?? record.uploaded_by),
      }));
      const deltaId = `${record.document_id}.${record.run}.${record.attempts}.${part}`;
      await appendRows(this.#parts, work.shelf.scope, target, { deltaId, upsert }, work.signal);
      await work.alive();
    }
    // A former try may have cut it into more pieces.
    if (begun.formerTotal > chunks.length) {
      const { document_id, run } = begun.current.record;
      const extra = Array.from({ length: begun.formerTotal - chunks.length }, (_, i) => chunkId(document_id, run, chunks.length + i));
      for (let at = 0; at < extra.length; at += 5_000)
        await appendRows(this.#parts, work.shelf.scope, target, { delete: extra.slice(at, at + 5_000) }, work.signal);
    }
  }

  /** Progress for whoever watches, and a sign of life for the watchdog; at most once a second. */
  async #tell(work: Ingestion, begun: Begun, progress: { done: number; total: number }, now = false): Promise<void> {
    const at = this.#parts.clock.now();
    if (!now && at - begun.toldAt < progressMs) return;
    begun.toldAt = at;
    const next: DocumentRecord = { ...begun.current.record, progress, touched_at: at };
    const { results } = await this.#guarded(work.shelf.write([this.#replace(work, next, begun.current.etag)]));
    begun.current = { record: next, etag: results[1]?.etag as string };
    await work.alive();
  }

  /** The one moment at which the new passages become visible and the old ones stop being so. */
  async #finish(work: Ingestion, begun: Begun, strategy: ChunkingStrategy, chunkCount: number): Promise<DocumentRecord> {
    const { record, etag } = begun.current;
    const now = this.#now();
    const live: IndexedVersion = {
      ...newestVersion(record),
      run: record.run,
      chunking_strategy: strategy,
      chunk_count: chunkCount,
      indexed_at: now,
      generation: begun.generation,
    };
    const next: DocumentRecord = {
      ...record,
      status: "indexed",
      error: null,
      progress: null,
      live,
      indexed_at: now,
      touched_at: this.#parts.clock.now(),
    };
    const former = record.live;
    const operations: Operation[] = [
      this.#replace(work, next, etag),
      work.shelf.move({ from: "indexing", to: "indexed", chunks: chunkCount - (former?.chunk_count ?? 0), syncedAt: now }),
    ];
    if (former !== null) operations.push(removal(work.shelf, record, "replaced", { chunks: [rangeOf(former)], now: this.#parts.clock.now() }));
    await this.#guarded(work.shelf.write(operations));
    return next;
  }

  /** The etag of the document is the fence of its run. */
  async #guarded<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      const over = PinakesError.isInstance(error) && (error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND" || error.code === "CONFLICT");
      throw over ? new Overtaken("the document changed meanwhile", { cause: error }) : error;
    }
  }

  #replace(work: Ingestion, record: DocumentRecord, etag: string): Operation {
    return { op: "replace", document: work.shelf.document(itemIds.document(record.document_id), record), ifMatch: etag };
  }

  #now(): string {
    return isoTime(this.#parts.clock.now());
  }
}

interface Begun {
  current: Stored<DocumentRecord>;
  readonly generation: number;
  /** How many pieces a former try of this run may have stored. */
  readonly formerTotal: number;
  toldAt: number;
}

/** Whose bytes are here: what is ingested. A number above it may have been given to an upload that broke off or brought nothing new. */
function newestVersion({ versions }: DocumentRecord): VersionInfo {
  const [newest] = versions;
  invariant(newest !== undefined, "INTERNAL", "a document that is ingested has bytes");
  return newest;
}

function isOver({ status }: DocumentRecord): boolean {
  return status === "indexed" || status === "failed";
}

export function rangeOf({ run, chunk_count, generation }: IndexedVersion): { run: number; chunk_count: number; generation: number } {
  return { run, chunk_count, generation };
}

/** With the headings above it: a passage alone often does not say what it is about. */
function embeddedText({ text, context }: Chunk): string {
  return context === undefined ? text : `${context}\n${text}`;
}

function passageMetadata(record: DocumentRecord, chunk: Chunk, userId: string): JsonObject {
  return {
    ...record.metadata,
    document_id: record.document_id,
    catalog_id: record.collection_id,
    user_id: userId,
    filename: record.name,
    file_type: record.file_type,
    version: newestVersion(record).version,
    run: record.run,
    chunk: chunk.index,
    start: chunk.start,
    end: chunk.end,
    ...(chunk.page === undefined ? {} : { page: chunk.page }),
    ...(chunk.section === undefined ? {} : { section: chunk.section }),
    ...(chunk.rows === undefined ? {} : { row_first: chunk.rows[0], row_last: chunk.rows[1] }),
  };
}
