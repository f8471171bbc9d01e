/**
 * Ingests one document, from bytes to searchable chunks (RFC 0005, "Ingestion"). Every step can be repeated: chunk ids contain the run, and
 * nothing of a run is visible before the batch that makes it live.
 */
import type { Chunk } from "../../domain/chunking.ts";
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { contentKey } from "../documents/check-upload.ts";
import { effectiveChunking } from "../records/collection-fields.ts";
import type { CatalogRecords, Stored } from "../records/catalog-records.ts";
import {
  itemIds,
  type CollectionRecord,
  type DocumentRecord,
  type IndexedVersion,
  type RepositoryRecord,
  type VersionInfo,
} from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { extractGraph, type ExtractedGraph } from "./extract-graph.ts";
import { parted, removeSources, sourceMark, withSource, writeGraph } from "../documents/graph-support.ts";
import { saveParsedText } from "../documents/parsed-text.ts";
import { appendRows, chunkId } from "../documents/passages.ts";
import { removal, removeLeftovers, shownRanges, unfinishedChunks } from "../documents/removals.ts";
import { takeBackLate, takeBackRun } from "./withdraw-run.ts";
import { storePassages } from "./store-passages.ts";
import { type CutDocument, cutDocument } from "./cut-document.ts";

/** Attempts per run, after which the document has failed. */
export const attemptsMax = 5;
const progressMs = 1_000;

/** The document was changed or deleted concurrently: this run is over. */
export class Overtaken extends Error {}

export interface Ingestion {
  readonly partition: CollectionPartition;
  readonly documentId: string;
  readonly run: number;
  readonly signal: AbortSignal;
  /** Extends the lease of this document's message. */
  readonly alive: () => Promise<void>;
}

export class DocumentIngester {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords) {
    this.#deps = deps;
    this.#catalog = catalog;
  }

  /** Throws on failure; the worker decides whether to retry. */
  async ingest(work: Ingestion): Promise<DocumentRecord | undefined> {
    const { repository, collection } = await this.#owners(work.partition);
    const started = await this.#begin(work, collection.embedding_model);
    if (started === undefined) {
      await takeBackLate(this.#deps, work);
      return undefined;
    }
    const { record } = started.current;
    const strategy = record.chunking_override ?? effectiveChunking(repository, collection);
    let chunks: readonly Chunk[] = [];
    try {
      const parsed = await this.#parse(work, record);
      const cut = await cutDocument(this.#deps, parsed, strategy, started.model, work.signal);
      ({ chunks } = cut);
      const { version } = newestVersion(record);
      const graph = await extractGraph(this.#deps, {
        ...work,
        repository,
        collection,
        document: record,
        version,
        parsed,
        chunks,
      });
      await this.#index(work, started, { chunks, graph }, repository.owner ?? record.uploaded_by);
      return await this.#finish(work, started, { ...cut, graph });
    } catch (error) {
      const { generation } = started;
      const { version } = newestVersion(record);
      await takeBackRun(this.#deps, work, { generation, version }, chunks.length);
      throw error instanceof Overtaken && (await this.#isStillOurs(work, started, error)) ? touched(error) : error;
    }
  }

  /** A re-index of the collection writes to documents in progress: this attempt is over, but not the run. */
  async #isStillOurs(
    { partition, documentId, run }: Ingestion,
    { current }: Started,
    { cause }: Overtaken,
  ): Promise<boolean> {
    if (!hasCode(cause, "PRECONDITION_FAILED")) return false;
    const record = (await partition.read(documentId))?.record;
    return record?.run === run && record.status === "indexing" && record.attempts === current.record.attempts;
  }

  /** Marks the document as failed. */
  async fail(work: Ingestion, reason: string, error_code?: string): Promise<void> {
    const found = await work.partition.read(work.documentId);
    if (found === undefined || found.record.run !== work.run || isOver(found.record)) return;
    const { record, etag } = found;
    const now = this.#deps.clock.now();
    const { graph, stale } = parted(record, "goes");
    const next: DocumentRecord = {
      ...record,
      status: "failed",
      error: reason,
      error_code,
      progress: null,
      touched_at: now,
      ...(graph === undefined ? {} : { graph }),
    };
    const { generation } = (await work.partition.fence())?.record ?? { generation: 1 };
    const chunks = unfinishedChunks(record, generation);
    await work.partition.write([
      this.#replace(work, next, etag),
      work.partition.move({ from: record.status, to: "failed", syncedAt: this.#now() }),
      ...(chunks.length + stale.length === 0
        ? []
        : [removal(work.partition, record, "failed", { chunks, sources: stale, now })]),
    ]);
    if (chunks.length + stale.length > 0) await removeLeftovers(this.#deps, work.partition);
  }

  /** An attempt that was interrupted for reasons other than the document does not count: the document is queued again. */
  async giveBack(work: Ingestion): Promise<void> {
    const found = await work.partition.read(work.documentId);
    if (found?.record.run !== work.run || found.record.status !== "indexing") return;
    const { record, etag } = found;
    const attempts = Math.max(0, record.attempts - 1);
    const interrupted = (record.interrupted ?? 0) + 1;
    const next: DocumentRecord = {
      ...record,
      status: "pending",
      attempts,
      interrupted,
      touched_at: this.#deps.clock.now(),
    };
    await work.partition.write([
      this.#replace(work, next, etag),
      work.partition.move({ from: "indexing", to: "pending" }),
    ]);
  }

  /** Records why an attempt failed; the document is retried. */
  async note(work: Ingestion, reason: string): Promise<void> {
    const found = await work.partition.read(work.documentId);
    if (found === undefined || found.record.run !== work.run || isOver(found.record)) return;
    await work.partition.write([
      this.#replace(work, { ...found.record, error: reason, touched_at: this.#deps.clock.now() }, found.etag),
    ]);
  }

  async #begin(work: Ingestion, model: string): Promise<Started | undefined> {
    const found = await work.partition.read(work.documentId);
    if (
      found === undefined ||
      found.record.run !== work.run ||
      isOver(found.record) ||
      found.record.status === "uploading"
    )
      return undefined;
    const fence = await work.partition.fence();
    if (fence?.record.status !== "ACTIVE") return undefined;
    const { record } = found;
    if (record.attempts >= attemptsMax) {
      await this.fail(
        work,
        record.error ??
          `Failed after ${record.attempts} attempts that ended without an error: the file may exceed this machine's resources.`,
      );
      return undefined;
    }
    const next: DocumentRecord = {
      ...record,
      status: "indexing",
      attempts: record.attempts + 1,
      // Keeps the number of chunks that an earlier attempt may have stored.
      progress: record.progress === null ? null : { done: 0, total: record.progress.total },
      touched_at: this.#deps.clock.now(),
    };
    const { results } = await work.partition.write([
      this.#replace(work, next, found.etag),
      ...(record.status === "indexing" ? [] : [work.partition.move({ from: record.status, to: "indexing" })]),
    ]);
    return {
      current: { record: next, etag: results[1]?.etag as string },
      generation: fence.record.generation,
      model: fence.record.embedding_model ?? model,
      formerTotal: record.progress?.total ?? 0,
      toldAt: this.#deps.clock.now(),
    };
  }

  async #owners(
    partition: CollectionPartition,
  ): Promise<{ repository: RepositoryRecord; collection: CollectionRecord }> {
    const { repository_id, collection_id, incarnation } = partition.key;
    const [repository, collection] = await this.#catalog.both(partition.scope, repository_id, collection_id);
    if (repository === undefined || collection === undefined || collection.record.incarnation !== incarnation)
      throw new Overtaken("the collection no longer exists");
    return { repository: repository.record, collection: collection.record };
  }

  async #parse(work: Ingestion, record: DocumentRecord): Promise<ParsedText> {
    const { version } = newestVersion(record);
    const bytes = await this.#deps.objects.get(
      work.partition.scope,
      contentKey(work.partition, record.document_id, version),
      {
        signal: work.signal,
      },
    );
    if (bytes === undefined)
      throw invalid("The bytes of the document are missing from the object store. Upload it again.");
    const parsed = await this.#deps.parser.parse(
      { bytes, fileType: record.file_type },
      { signal: work.signal, share: work.partition.scope.tenant },
    );
    await saveParsedText(this.#deps.objects, work.partition, { document_id: record.document_id, version }, parsed);
    await work.alive();
    return parsed;
  }

  async #index(work: Ingestion, started: Started, { chunks, graph }: Made, userId: string): Promise<void> {
    const { partition, signal } = work;
    const mark = sourceMark({ run: started.current.record.run, generation: started.generation });
    const again = started.current.record.graph?.sources.includes(mark) === true;
    if (graph.parts.size > 0)
      started.current = {
        ...started.current,
        record: { ...started.current.record, graph: withSource(started.current.record, mark) },
      };
    await this.#tell(work, started, { done: 0, total: chunks.length }, true);
    const { record } = started.current;
    await storePassages(this.#deps, {
      partition,
      record,
      version: newestVersion(record).version,
      run: record.run,
      userId,
      generation: started.generation,
      chunks,
      embedder: await this.#deps.embedders.get(started.model),
      deltaId: `${record.document_id}.${record.run}.${record.attempts}${record.interrupted === undefined ? "" : `.i${record.interrupted}`}`,
      signal,
      onProgress: (done) => this.#tell(work, started, { done, total: chunks.length }),
    });
    // An earlier attempt may have made more chunks.
    if (started.formerTotal > chunks.length) {
      const { document_id, run } = record;
      const extra = Array.from({ length: started.formerTotal - chunks.length }, (_, i) =>
        chunkId(document_id, run, chunks.length + i),
      );
      for (let at = 0; at < extra.length; at += 5_000)
        await appendRows(
          this.#deps,
          partition.scope,
          partition.vectors(started.generation),
          { delete: extra.slice(at, at + 5_000) },
          signal,
        );
    }
    // … and other triples, with other settings.
    if (again) await removeSources(this.#deps, partition, record.document_id, [mark]);
    const onProgress = () => this.#tell(work, started, { done: chunks.length, total: chunks.length });
    await this.#guarded(
      writeGraph(this.#deps, partition, record.document_id, mark, { extraction: graph, signal, onProgress }),
    );
  }

  /** Progress for observers and a heartbeat for the watchdog; at most once a second. */
  async #tell(
    work: Ingestion,
    started: Started,
    progress: { done: number; total: number },
    now = false,
  ): Promise<void> {
    const at = this.#deps.clock.now();
    if (!now && at - started.toldAt < progressMs) return;
    started.toldAt = at;
    const next: DocumentRecord = { ...started.current.record, progress, touched_at: at };
    const { results } = await this.#guarded(work.partition.write([this.#replace(work, next, started.current.etag)]));
    started.current = { record: next, etag: results[1]?.etag as string };
    await work.alive();
  }

  /** The commit point: one batch makes the new chunks visible and the old ones invisible. */
  async #finish(work: Ingestion, started: Started, made: Made & CutDocument): Promise<DocumentRecord> {
    const { chunks, graph, chunking_strategy, tokens_max } = made;
    const { record, etag } = started.current;
    const now = this.#now();
    const chunkCount = chunks.length;
    const live: IndexedVersion = {
      ...newestVersion(record),
      run: record.run,
      chunking_strategy,
      tokens_max,
      chunk_count: chunkCount,
      indexed_at: now,
      generation: started.generation,
    };
    const next: DocumentRecord = {
      ...record,
      status: "indexed",
      error: null,
      progress: null,
      live,
      prepared: null,
      indexed_at: now,
      touched_at: this.#deps.clock.now(),
    };
    const former = record.live;
    const visible = shownRanges(record);
    const { graph: kept, stale } = parted(next, "goes");
    const stored: DocumentRecord =
      kept === undefined ? next : { ...next, graph: { sources: kept.sources, ...graph.summary } };
    const operations: Operation[] = [
      this.#replace(work, stored, etag),
      work.partition.move({
        from: "indexing",
        to: "indexed",
        chunks: chunkCount - (former?.chunk_count ?? 0),
        syncedAt: now,
      }),
    ];
    if (visible.length + stale.length > 0)
      operations.push(
        removal(work.partition, record, "replaced", {
          chunks: visible,
          sources: stale,
          now: this.#deps.clock.now(),
        }),
      );
    await this.#guarded(work.partition.write(operations, started.generation));
    return stored;
  }

  /** The etag of the document is the fencing token of its run. */
  async #guarded<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      const over = isConflict(error);
      throw over ? new Overtaken("the document was changed concurrently", { cause: error }) : error;
    }
  }

  #replace(work: Ingestion, record: DocumentRecord, etag: string): Operation {
    return {
      op: "replace",
      document: work.partition.document(itemIds.document(record.document_id), record),
      ifMatch: etag,
    };
  }

  #now(): string {
    return isoTime(this.#deps.clock.now());
  }
}

/** The output of a run. */
interface Made {
  readonly chunks: readonly Chunk[];
  readonly graph: ExtractedGraph;
}

interface Started {
  current: Stored<DocumentRecord>;
  readonly generation: number;
  readonly model: string;
  /** Number of chunks that an earlier attempt of this run may have stored. */
  readonly formerTotal: number;
  toldAt: number;
}

/** The newest version with bytes, which is what is ingested. Higher numbers may belong to uploads that were interrupted or unchanged. */
function newestVersion({ versions }: DocumentRecord): VersionInfo {
  const [newest] = versions;
  invariant(newest !== undefined, "INTERNAL", "a document without bytes is being ingested");
  return newest;
}

function touched(cause: Overtaken): PinakesError {
  return new PinakesError("UNAVAILABLE", "A concurrent re-index changed the document; ingestion is retried.", {
    cause,
  });
}

function isOver({ status }: DocumentRecord): boolean {
  return status === "indexed" || status === "failed";
}
