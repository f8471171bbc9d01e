/**
 * All documents of a collection cut and embedded anew, into a generation of vectors beside the one that answers (RFC 0005,
 * "Re-index"). When every document is prepared, one batch makes the new generation the collection's: searches see the old passages
 * until then and the new ones from then on. Can be stopped and carried on at any point.
 *
 * Of a collection that a migration holds none is begun, and nothing is written to it (RFC 0009). One that was begun before goes on to its
 * switch, which the migration waits for: each of the two says what it begins, in the fence and in the record, before it looks whether the
 * other did. What comes after the switch the migration does itself where this has not yet, so that this finds nothing to do when it comes.
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
import { cutDocument } from "./ingest-document.ts";
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
    // Another life may have the id by the time that a job has waited for.
    const meant = incarnation === undefined || collection?.record.incarnation === incarnation;
    if (repository === undefined || collection?.record.status !== "ACTIVE" || !meant)
      throw new PinakesError("NOT_FOUND", `There is no active collection "${collection_id}".`);
    const partition = new CollectionPartition(this.#deps.items, scope, collection.record);
    if (((await partition.fence())?.record.next ?? null) === null) await this.#requireFree(partition);
    const { record: fence } = await partition.ensure();
    // A try of this job that died is over, however short a while ago that was.
    await removeAbandoned(this.#deps, partition, {
      begunBefore: this.#deps.clock.now(),
      signal: tools.signal,
    });
    // One that ended right after its switch has left some as they were.
    await settleReindex({ deps: this.#deps, catalog: this.#catalog }, partition, fence);
    const begun = await this.#begin(partition, model ?? fence.embedding_model ?? collection.record.embedding_model);
    const work: Reindexing = {
      partition,
      repository: repository.record,
      collection: collection.record,
      next: begun,
      tools,
    };
    for (let round = 1; ; round += 1) {
      invariant(round <= roundsMax, "UNAVAILABLE", "Documents changed again and again during the re-index; try again.");
      const stats = await partition.stats();
      const { prepared, waiting } = await this.#prepareAll(work);
      if (waiting === 0 && stats !== undefined && (await this.#switch(work, stats.etag)))
        return this.#settle(work, prepared);
    }
  }

  /** One that was begun before is carried on, unless it is for another model. */
  async #begin(partition: CollectionPartition, model: string): Promise<Reindexing["next"]> {
    const found = await partition.fence();
    invariant(found !== undefined, "INTERNAL", "the fence was put there");
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
      // The migration waits for what has begun: this has not.
      await fence(null, results[0]?.etag as string);
      throw error;
    }
    return fresh;
  }

  async #requireFree({ scope, place }: CollectionPartition): Promise<void> {
    const hold = (await this.#catalog.life(scope, place))?.record.hold;
    if (hold !== undefined)
      throw new Later(
        `Collection "${place.collection_id}" takes no writes while migration "${hold.migration_id}" is under way. After that it is re-indexed where it stays; where it moves, ask for it in the new place.`,
      );
  }

  /** Tells how many are prepared, and whether some changed under it. */
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
      // All of them end before the first error is told: a job that is over must not write any more.
      const outcomes = await Promise.allSettled(open.slice(at, at + atOnce).map((found) => this.#prepare(work, found)));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed !== undefined) throw failed.reason instanceof Error ? failed.reason : new Error(String(failed.reason));
      const done = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value).length;
      prepared += done;
      waiting += outcomes.length - done;
    }
    await work.tools.tell({ done: prepared, total });
    // What was prepared in this round is looked at once more before the switch.
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
      told: async () => tools.signal.throwIfAborted(),
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
      const writing = { extraction, signal: tools.signal, told: async () => {} };
      await writeGraph(this.#deps, partition, record.document_id, mark, writing);
      const { graph, stale } = parted({ ...record, prepared }, "stays");
      const now = this.#deps.clock.now();
      const listed = graph === undefined ? {} : { graph: { sources: graph.sources, ...extraction.told } };
      await partition.write([
        replaced({ ...record, prepared, ...listed }),
        ...(stale.length === 0
          ? []
          : [removal(partition, record, `prepared-${next.generation}`, { sources: stale, now })]),
        endPreparation(partition, record.document_id, range),
      ]);
      return true;
    } catch (error) {
      // Replaced or deleted meanwhile: what it is now is looked at in the next round.
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

  /** Only if no document came, went or changed since they were all looked at. */
  async #switch({ partition, next }: Reindexing, statsEtag: string): Promise<boolean> {
    const found = await partition.fence();
    if (found?.record.status !== "ACTIVE")
      throw new PinakesError("CONFLICT", "The collection was archived or deleted meanwhile.");
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

  /** What was prepared is what is live; the old generation goes. */
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
