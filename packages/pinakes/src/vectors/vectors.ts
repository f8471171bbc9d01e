/** The vector store: the public API. Each method resolves the collection and delegates to the module that implements it. */
import type { VectorVersion as VersionSummary } from "@pinakes/client";
import { hasCode, invalid, show } from "../domain/errors.ts";
import type { Filter } from "../domain/filter.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { SegmentCache } from "./cache/segment-cache.ts";
import { collectGarbage, type CollectResult } from "./maintenance/collect.ts";
import { inspectDead, listDead, requestDead, type InspectedDelta } from "./maintenance/dead-letters.ts";
import { fsck, type FsckReport } from "./maintenance/fsck.ts";
import {
  purgeCollection,
  remainsOf,
  trashCollection,
  undeleteCollection,
  type PurgeResult,
  type Remains,
} from "./maintenance/remove.ts";
import { repairFromBucket, type RepairResult } from "./maintenance/repair.ts";
import { leftoversOf, scrubCollection, type Leftovers, type ScrubResult } from "./maintenance/scrub.ts";
import { restoreVersion, type RestoreResult } from "./maintenance/restore.ts";
import type { CompactionResult, Compactor } from "./compact/compactor.ts";
import { vectorLimits } from "./limits.ts";
import { Appender, type AppendInput, type AppendResult } from "./log/append.ts";
import { listCollections, type CollectionPage } from "./log/list.ts";
import { checkSettings, createCollection, type NewCollection } from "./log/create.ts";
import type { VectorWork } from "./log/vector-work.ts";
import { checkQuery, checkText, type QueryInput } from "./read/query-input.ts";
import { countTermsOfView, countView, queryView, type QueryResult } from "./read/query.ts";
import type { ReadOptions, Reader } from "./read/reader.ts";
import { findLive, type ViewSource } from "./read/view.ts";
import type { SearchPool } from "./search/pool.ts";
import type { TermCounts } from "./text/statistics.ts";
import type { CollectionSettings } from "./segment/collection-settings.ts";
import type { Put } from "./row.ts";
import { collectionStats, type CollectionStats } from "./stats.ts";
import { CollectionSite } from "./store/collection-site.ts";
import type { DeadDelta } from "./store/manifest.ts";
import type { VectorDependencies } from "./store/dependencies.ts";
import type { WorkerMetrics } from "./worker.ts";

export interface VectorRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly text?: string;
  readonly metadata: JsonObject;
}

export type { VersionSummary };

export interface VectorsDependencies {
  readonly deps: VectorDependencies;
  readonly pool: SearchPool;
  readonly cache: SegmentCache;
  readonly reader: Reader;
  readonly work: VectorWork;
  readonly compactor: Compactor;
  readonly metrics: () => WorkerMetrics;
  /** Wakes the background work. */
  readonly wake: () => void;
}

/**
 * @example
 * await vectors.create(scope, "papers", { dims: 384 });
 * const { session } = await vectors.append(scope, "papers", { upsert: [{ id: "p1", vector, text: "On Computable Numbers", metadata: { year: 1936 } }] });
 * const { hits } = await vectors.query(scope, "papers", { text: "computable", vector, filter: { year: { lt: 1950 } }, session });
 */
export class Vectors {
  readonly #pieces: VectorsDependencies;
  readonly #appender: Appender;

  constructor(pieces: VectorsDependencies) {
    this.#pieces = pieces;
    this.#appender = new Appender(pieces.work);
  }

  /**
   * The id is this incarnation of the collection: once deleted it is never reused. Creating it again with the same settings is idempotent.
   */
  async create(scope: Scope, collection: string, settings: NewCollection): Promise<void> {
    await createCollection(this.#site(scope, collection), checkSettings(settings));
  }

  /** The collections of the tenant, including deleted ones that can be restored. May be as late as the engine's indexes are. */
  async list(scope: Scope, options: { limit?: number; cursor?: string | undefined } = {}): Promise<CollectionPage> {
    return listCollections(this.#pieces.deps, scope, options);
  }

  /** Upserts, patches and deletes rows, all or nothing. Acknowledged means durable, and visible to every read that begins afterwards. */
  async append(scope: Scope, collection: string, input: AppendInput): Promise<AppendResult> {
    const result = await this.#appender.append(this.#site(scope, collection), input);
    this.#pieces.wake();
    return result;
  }

  async query(scope: Scope, collection: string, input: QueryInput): Promise<QueryResult> {
    const view = await this.#pieces.reader.view(this.#site(scope, collection), input);
    return queryView(this.#pieces, view, checkQuery(input, view.manifest.settings.dims));
  }

  /** How many rows there are and how many contain each word of a text: for queries of other collections, as `elsewhere`. */
  async countTerms(scope: Scope, collection: string, text: string, options: ReadOptions = {}): Promise<TermCounts> {
    const view = await this.#pieces.reader.view(this.#site(scope, collection), options);
    return countTermsOfView(this.#pieces, view, checkText(text));
  }

  /** In the order of the ids; undefined for an absent one. */
  async get(
    scope: Scope,
    collection: string,
    ids: readonly string[],
    options: ReadOptions = {},
  ): Promise<readonly (VectorRow | undefined)[]> {
    if (!Array.isArray(ids) || ids.length > vectorLimits.getIdsMax)
      throw invalid(`ids: must be a list of at most ${vectorLimits.getIdsMax} ids.`);
    const view = await this.#pieces.reader.view(this.#site(scope, collection), options);
    return ids.map((id: unknown) => {
      if (typeof id !== "string") throw invalid(`ids: ${show(id)} is not a text.`);
      const place = findLive(view.sources, Buffer.from(id, "utf8"));
      return place === undefined
        ? undefined
        : vectorRow((view.sources[place.source] as ViewSource).rows.put(place.row));
    });
  }

  /** Every row of one state, in no particular order: for exports. */
  async *rows(scope: Scope, collection: string, options: ReadOptions = {}): AsyncGenerator<VectorRow> {
    const view = await this.#pieces.reader.view(this.#site(scope, collection), options);
    for (const source of view.sources) {
      for (let row = 0; row < source.rows.rows; row += 1)
        if (!(source.dead?.has(row) ?? false)) yield vectorRow(source.rows.put(row));
    }
  }

  async count(scope: Scope, collection: string, options: ReadOptions & { filter?: Filter } = {}): Promise<number> {
    return countView(await this.#pieces.reader.view(this.#site(scope, collection), options), options.filter);
  }

  async stats(scope: Scope, collection: string): Promise<CollectionStats> {
    return collectionStats(this.#site(scope, collection));
  }

  /** Its settings; undefined if there is none. One read, whatever its size. */
  async settings(scope: Scope, collection: string): Promise<CollectionSettings | undefined> {
    const site = this.#site(scope, collection);
    try {
      return (await site.state()).fence.settings;
    } catch (error) {
      if (hasCode(error, "NOT_FOUND")) return undefined;
      throw error;
    }
  }

  /** The versions that can be read with `asOf` or restored, newest last. */
  async history(scope: Scope, collection: string): Promise<VersionSummary[]> {
    const site = this.#site(scope, collection);
    await site.state();
    const versions: VersionSummary[] = [];
    for await (const { manifest, committedAt } of site.histories()) {
      const { version, reason, writer, epoch, appliedSeq, stats, segments } = manifest;
      versions.push({
        version,
        committedAt,
        reason,
        writer,
        epoch,
        appliedSeq,
        live: stats.live,
        segments: segments.length,
        bytes: stats.bytes,
      });
    }
    return versions;
  }

  /** Folds what is pending now and merges what is worth it; with `all`, into as few segments as their largest size allows. */
  async compact(
    scope: Scope,
    collection: string,
    options: { all?: boolean; signal?: AbortSignal } = {},
  ): Promise<CompactionResult> {
    const { signal } = options;
    return this.#pieces.compactor.run(this.#site(scope, collection), {
      merge: options.all === true ? "all" : "worthwhile",
      signal,
    });
  }

  async collect(scope: Scope, collection: string, options: { dryRun?: boolean } = {}): Promise<CollectResult> {
    return collectGarbage(this.#site(scope, collection), options);
  }

  /**
   * Rewrites every file with rows that were deleted or replaced, and removes all earlier versions and applied deltas: nothing of those rows is
   * left, and only the newest version can be read. "busy" while another process compacts: repeat it.
   */
  async scrub(
    scope: Scope,
    collection: string,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ScrubResult> {
    const site = this.#site(scope, collection);
    const result = await scrubCollection(site, this.#pieces.compactor, options.signal);
    this.#pieces.reader.forget(site);
    await this.#pieces.cache.forget(site);
    return result;
  }

  /** What a scrub would still remove: rows that do not count, earlier versions, applied deltas, and deltas that cannot be read. */
  async leftovers(scope: Scope, collection: string): Promise<Leftovers> {
    return leftoversOf(this.#site(scope, collection));
  }

  async fsck(scope: Scope, collection: string, options: { deep?: boolean } = {}): Promise<FsckReport> {
    return fsck(this.#site(scope, collection), options);
  }

  async repair(scope: Scope, collection: string, options: { recoverDeltas?: boolean } = {}): Promise<RepairResult> {
    const site = this.#site(scope, collection);
    this.#pieces.reader.forget(site);
    return repairFromBucket(site, this.#pieces.work, options);
  }

  async restore(
    scope: Scope,
    collection: string,
    to: { version: number } | { time: number | string },
  ): Promise<RestoreResult> {
    return restoreVersion(this.#site(scope, collection), to);
  }

  /** Effective at once; the bytes are removed at `purgeAt` (epoch milliseconds), until when `undelete` restores everything. */
  async delete(scope: Scope, collection: string, options: { purgeAt: number }): Promise<void> {
    if (!Number.isFinite(options?.purgeAt))
      throw invalid(`purgeAt: must be a time in epoch milliseconds, got ${show(options?.purgeAt)}.`);
    const site = this.#site(scope, collection);
    await trashCollection(site, this.#pieces.work, options.purgeAt);
    this.#pieces.reader.forget(site);
  }

  async undelete(scope: Scope, collection: string): Promise<void> {
    await undeleteCollection(this.#site(scope, collection), this.#pieces.work);
  }

  /** Removes every object and every item now, of an active or a deleted collection. Can be repeated; at the end it finds nothing. */
  async purge(scope: Scope, collection: string): Promise<PurgeResult> {
    const site = this.#site(scope, collection);
    const result = await purgeCollection(site, this.#pieces.work);
    this.#pieces.reader.forget(site);
    await this.#pieces.cache.forget(site);
    return result;
  }

  /** How much still exists, whatever its state: to verify that a purge is complete. */
  async remains(scope: Scope, collection: string): Promise<Remains> {
    return remainsOf(this.#site(scope, collection));
  }

  /** Deltas that could not be read. */
  readonly dead = Object.freeze({
    list: (scope: Scope, collection: string): Promise<readonly DeadDelta[]> => listDead(this.#site(scope, collection)),
    inspect: (scope: Scope, collection: string, seq: number): Promise<InspectedDelta> =>
      inspectDead(this.#site(scope, collection), seq),
    redrive: (scope: Scope, collection: string, seq: number): Promise<void> =>
      this.#request(scope, collection, seq, "redrive"),
    discard: (scope: Scope, collection: string, seq: number): Promise<void> =>
      this.#request(scope, collection, seq, "discard"),
  });

  /** Of this process's background work. */
  metrics(): WorkerMetrics & { readonly cacheBytes: number } {
    return { ...this.#pieces.metrics(), cacheBytes: this.#pieces.cache.memoryBytes };
  }

  async #request(scope: Scope, collection: string, seq: number, action: "redrive" | "discard"): Promise<void> {
    await requestDead(this.#site(scope, collection), this.#pieces.work, seq, action);
    this.#pieces.wake();
  }

  #site(scope: Scope, collection: string): CollectionSite {
    return new CollectionSite(this.#pieces.deps, scope, collection);
  }
}

function vectorRow({ op: _, ...row }: Put): VectorRow {
  return row;
}
