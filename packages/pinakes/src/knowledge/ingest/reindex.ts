/**
 * Chunks and embeds all documents of a collection again, into a new generation of vectors beside the live one (RFC 0005, "Re-index"). When
 * every document is prepared, one batch switches to the new generation. Can be stopped and resumed at any point.
 *
 * No re-index starts while a migration holds the collection, and none writes to it (RFC 0009). One already started continues to its switch,
 * which the migration waits for: each records its start, in the fence or in the record, before it checks for the other. The migration
 * completes the steps after the switch itself if needed, so this finds nothing left to do.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Scope } from "../../domain/scope.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { Later, type JobRecord, type JobTools } from "../jobs/jobs.ts";
import { effectiveChunking } from "../records/collection-fields.ts";
import type { CatalogRecords, Stored } from "../records/catalog-records.ts";
import {
  itemIds,
  type ChunkRange,
  type CollectionRecord,
  type DocumentRecord,
  type FenceRecord,
  type IndexedVersion,
  type RepositoryRecord,
} from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { extractGraph } from "./extract-graph.ts";
import { parted, removeSources, sourceMark, withSource, writeGraph } from "../documents/graph-support.ts";
import { cutDocument } from "./cut-document.ts";
import { readParsedText } from "../documents/parsed-text.ts";
import { beginPreparation, endPreparation, removeAbandoned, takeBack } from "./preparations.ts";
import { ignoreMissing, removal } from "../documents/removals.ts";
import { documentsOf, settleReindex } from "./settle-reindex.ts";
import { storePassages } from "./store-passages.ts";

const atOnce = 4;
const roundsMax = 100;

interface Reindexing {
  readonly partition: CollectionPartition;
  readonly repository: RepositoryRecord;
  readonly collection: CollectionRecord;
  readonly next: { readonly generation: number; readonly embedding_model: string };
  readonly tools: JobTools;
}

export class Reindexer {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords) {
    this.#deps = deps;
    this.#catalog = catalog;
  }

  async reindex(
    scope: Scope,
    { repository_id, collection_id, incarnation }: Pick<JobRecord, "repository_id" | "collection_id" | "incarnation">,
    model: string | undefined,
    tools: JobTools,
  ): Promise<JsonObject> {
    const [repository, collection] = await this.#catalog.both(scope, repository_id, collection_id);
    // Another incarnation may hold the id by the time the job runs.
    const meant = incarnation === undefined || collection?.record.incarnation === incarnation;
    if (repository === undefined || collection?.record.status !== "ACTIVE" || !meant)
      throw new PinakesError("NOT_FOUND", `There is no active collection "${collection_id}".`);
    const partition = new CollectionPartition(this.#deps.items, scope, collection.record);
    if (((await partition.fence())?.record.next ?? null) === null) await this.#requireFree(partition);
    const { record: fence } = await partition.ensure();
    // A dead attempt of this job is over, however recent.
    await removeAbandoned(this.#deps, partition, {
      begunBefore: this.#deps.clock.now(),
      signal: tools.signal,
    });
    // An attempt that ended right after its switch left some documents unsettled.
    await settleReindex({ deps: this.#deps, catalog: this.#catalog }, partition, fence);
    const started = await this.#begin(partition, model ?? fence.embedding_model ?? collection.record.embedding_model);
    const work: Reindexing = {
      partition,
      repository: repository.record,
      collection: collection.record,
      next: started,
      tools,
    };
    for (let round = 1; ; round += 1) {
      invariant(round <= roundsMax, "UNAVAILABLE", "Documents kept changing during the re-index; try again.");
      const stats = await partition.stats();
      const { prepared, waiting } = await this.#prepareAll(work);
      if (waiting === 0 && stats !== undefined && (await this.#switch(work, stats.etag)))
        return this.#settle(work, prepared);
    }
  }

  /** Resumes an unfinished re-index, unless it is for another model. */
  async #begin(partition: CollectionPartition, model: string): Promise<Reindexing["next"]> {
    const found = await partition.fence();
    invariant(found !== undefined, "INTERNAL", "the fence was just created");
    const { next = null, generation } = found.record;
    if (next?.embedding_model === model) return next;
    if (next === null) await this.#requireFree(partition);
    const fresh = { generation: Math.max(generation, next?.generation ?? 0) + 1, embedding_model: model };
    const fence = (wanted: FenceRecord["next"], ifMatch: string) =>
      partition.clean([
        { op: "replace", document: partition.document(itemIds.fence, { ...found.record, next: wanted }), ifMatch },
      ]);
    const { results } = await fence(fresh, found.etag);
    if (next !== null) return fresh;
    try {
      await this.#requireFree(partition);
    } catch (error) {
      // The migration waits for what has started: this has not.
      await fence(null, results[0]?.etag as string);
      throw error;
    }
    return fresh;
  }

  async #requireFree({ scope, key }: CollectionPartition): Promise<void> {
    const hold = (await this.#catalog.incarnation(scope, key))?.record.hold;
    if (hold !== undefined)
      throw new Later(
        `Collection "${key.collection_id}" accepts no writes while migration "${hold.migration_id}" is in progress. If the collection stays here it is re-indexed afterwards; if it moves, re-index it in its new location.`,
      );
  }

  /** Returns how many are prepared, and whether some changed concurrently. */
  async #prepareAll(work: Reindexing): Promise<{ prepared: number; waiting: number }> {
    let prepared = 0;
    let waiting = 0;
    const open: Stored<DocumentRecord>[] = [];
    for await (const found of documentsOf(this.#deps, work.partition)) {
      if (found.record.live === null) continue;
      if (isPrepared(found.record, work.next.generation)) prepared += 1;
      else open.push(found);
    }
    const total = prepared + open.length;
    for (let at = 0; at < open.length; at += atOnce) {
      await work.tools.tell({ done: prepared, total });
      // All of them end before the first error is thrown: a finished job must not write any more.
      const outcomes = await Promise.allSettled(open.slice(at, at + atOnce).map((found) => this.#prepare(work, found)));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed !== undefined) throw failed.reason instanceof Error ? failed.reason : new Error(String(failed.reason));
      const done = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value).length;
      prepared += done;
      waiting += outcomes.length - done;
    }
    await work.tools.tell({ done: prepared, total });
    // Documents prepared in this round are checked once more before the switch.
    return { prepared, waiting: open.length > 0 ? Math.max(1, waiting) : 0 };
  }

  async #prepare(work: Reindexing, found: Stored<DocumentRecord>): Promise<boolean> {
    const { partition, next, tools } = work;
    let { record, etag } = found;
    const live = record.live as IndexedVersion;
    const parsed = await readParsedText(this.#deps.objects, partition, record.document_id, live.version);
    if (parsed === undefined)
      throw new PinakesError(
        "CORRUPT",
        `The text of document ${record.document_id} is missing. Upload it again, with replace=true.`,
      );
    const strategy = record.chunking_override ?? effectiveChunking(work.repository, work.collection);
    const { chunks, ...cut } = await cutDocument(this.#deps, parsed, strategy, next.embedding_model, tools.signal);
    const range = { run: live.run, chunk_count: chunks.length, generation: next.generation };
    const begin = () => beginPreparation(partition, record.document_id, range, this.#deps.clock.now());
    await partition.write([begin()]);
    await storePassages(this.#deps, {
      partition,
      record,
      version: live.version,
      run: live.run,
      userId: work.repository.owner ?? record.uploaded_by,
      generation: next.generation,
      chunks,
      embedder: await this.#deps.embedders.get(next.embedding_model),
      deltaId: `${record.document_id}.${live.run}.${this.#deps.newId()}`,
      signal: tools.signal,
      onProgress: async () => tools.signal.throwIfAborted(),
    });
    const mark = sourceMark(range);
    const indexed_at = isoTime(this.#deps.clock.now());
    const prepared: IndexedVersion = { ...live, ...range, ...cut, indexed_at };
    const id = itemIds.document(record.document_id);
    const replaced = (changed: DocumentRecord) =>
      ({ op: "replace", document: partition.document(id, changed), ifMatch: etag }) as const;
    try {
      const extraction = await extractGraph(this.#deps, {
        ...work,
        document: record,
        version: live.version,
        parsed,
        chunks,
        signal: tools.signal,
        alive: async () => tools.signal.throwIfAborted(),
      });
      const before = record.graph?.sources.includes(mark) === true;
      if (extraction.parts.size > 0 && !before) {
        const listed = { ...record, graph: withSource(record, mark) };
        etag = (await partition.write([replaced(listed), begin()])).results[1]?.etag as string;
        record = listed;
      }
      if (before) await removeSources(this.#deps, partition, record.document_id, [mark]);
      const writing = { extraction, signal: tools.signal, onProgress: async () => {} };
      await writeGraph(this.#deps, partition, record.document_id, mark, writing);
      const { graph, stale } = parted({ ...record, prepared }, "stays");
      const now = this.#deps.clock.now();
      const listed = graph === undefined ? {} : { graph: { sources: graph.sources, ...extraction.summary } };
      await partition.write([
        replaced({ ...record, prepared, ...listed }),
        ...(stale.length === 0
          ? []
          : [removal(partition, record, `prepared-${next.generation}`, { sources: stale, now })]),
        endPreparation(partition, record.document_id, range),
      ]);
      return true;
    } catch (error) {
      // Replaced or deleted concurrently: the next round reads it again.
      if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
      await this.#undoPreparation(partition, record.document_id, range);
      return false;
    }
  }

  /** Removes what was prepared if another run is live by now. In the trash it stays, recorded, until the collection is restored. */
  async #undoPreparation(partition: CollectionPartition, documentId: string, range: ChunkRange): Promise<void> {
    const now = (await partition.read(documentId))?.record;
    if (now?.live?.run !== range.run && (await takeBack(this.#deps, partition, documentId, range)))
      await partition.clean([endPreparation(partition, documentId, range)]).catch(ignoreMissing);
  }

  /** Only if no document was added, deleted or changed since all were read. */
  async #switch({ partition, next }: Reindexing, statsEtag: string): Promise<boolean> {
    const found = await partition.fence();
    if (found?.record.status !== "ACTIVE")
      throw new PinakesError("CONFLICT", "The collection was archived or deleted concurrently.");
    const { generation, embedding_model } = next;
    const fence: FenceRecord = { ...found.record, generation, embedding_model, next: null };
    return succeeds(
      partition.clean([
        { op: "check", id: itemIds.stats, ifMatch: statsEtag },
        { op: "replace", document: partition.document(itemIds.fence, fence), ifMatch: found.etag },
      ]),
      "PRECONDITION_FAILED",
    );
  }

  /** Makes the prepared versions live and purges the old generations. */
  async #settle(work: Reindexing, documents: number): Promise<JsonObject> {
    const { partition, next } = work;
    await settleReindex({ deps: this.#deps, catalog: this.#catalog }, partition, next);
    for (let generation = 1; generation < next.generation; generation += 1) {
      await this.#deps.vectors.purge(partition.scope, partition.vectors(generation)).catch((error: unknown) => {
        if (!hasCode(error, "NOT_FOUND")) throw error;
      });
    }
    return { documents, generation: next.generation, embedding_model: next.embedding_model };
  }
}

function isPrepared({ live, prepared }: DocumentRecord, generation: number): boolean {
  return live?.generation === generation || (prepared?.generation === generation && prepared.run === live?.run);
}
