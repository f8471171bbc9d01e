/**
 * Ingestion pipelines: keep a collection in sync with a folder or a prefix of a bucket. A pipeline is immutable; deleting it keeps its
 * documents. Sources are only read, and only those that the server's operator allows.
 */
import type { PipelineNotified, PipelinePlan, ScheduledPipeline as PipelineView } from "@pinakes/client";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { Documents } from "../knowledge/documents/documents.ts";
import { Uploads } from "../knowledge/documents/upload.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import type { JobRecord, Jobs } from "../knowledge/jobs/jobs.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { requireLevel, type Level } from "../knowledge/access/access.ts";
import { Collections } from "../knowledge/collections/collections.ts";
import { archived, type OpenCollection } from "../knowledge/access/open-collection.ts";
import type { CatalogRecords } from "../knowledge/records/catalog-records.ts";
import type { CollectionRecord, PipelineSettings } from "../knowledge/records/records.ts";
import { Repositories } from "../knowledge/collections/repositories.ts";
import { isoTime } from "../knowledge/records/times.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import { EventListener } from "./event-listener.ts";
import { pipelineLimits } from "./limits.ts";
import { findPipeline, PipelineJobs } from "./pipeline-jobs.ts";
import { entryRestMs, PipelineRegistry, type StoredEntry } from "./pipeline-registry.ts";
import { AllowedLocations, type PipelineLocations } from "./allowed-locations.ts";
import { planAll, removalGuard } from "./plan.ts";
import { readS3Events } from "./s3-events.ts";
import { nextRunAt } from "./schedule.ts";
import { readNewPipeline } from "./settings.ts";
import type { NewPipeline } from "../knowledge/records/new-pipeline.ts";
import { filesBegin, overlap } from "./source.ts";
import { Watching } from "./watching.ts";

export type { PipelinePlan, PipelineView };

export interface Notified extends PipelineNotified {
  readonly job: JobRecord | null;
}

export type EntryState =
  | { readonly status: "ready"; readonly pipeline: PipelineSettings }
  | { readonly status: "asleep" | "gone" };

export interface PipelinesOptions {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly queue: IngestQueue;
  readonly jobs: Jobs;
  readonly places?: PipelineLocations | undefined;
  readonly sourceFilesMax?: number | undefined;
}

/** A claimed schedule that was not executed, because the process died in between, is due again after this time. */
const claimMs = 60_000;

/** Creates a collection; `complete` is called with its record before it is stored. */
type CreateCollection = (
  complete?: (fresh: Omit<OpenCollection, "etag">) => Promise<CollectionRecord>,
) => Promise<OpenCollection>;

export class Pipelines {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #collections: Collections;
  readonly #registry: PipelineRegistry;
  readonly #places: AllowedLocations;
  readonly #jobs: PipelineJobs;
  readonly #watching: Watching;
  readonly #listener: EventListener;

  constructor({ deps, catalog, queue, jobs, places, sourceFilesMax }: PipelinesOptions) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#collections = new Collections(deps, catalog, new Repositories(deps, catalog));
    this.#registry = new PipelineRegistry(deps.items, deps.system, deps.clock);
    this.#places = new AllowedLocations(places);
    this.#jobs = new PipelineJobs({
      deps,
      collections: this.#collections,
      uploads: new Uploads(deps, queue),
      documents: new Documents(deps, queue),
      jobs,
      registry: this.#registry,
      places: this.#places,
      sourceFilesMax,
    });
    const background = {
      deps,
      registry: this.#registry,
      jobs: this.#jobs,
      stateOf: (entry: StoredEntry) => this.#stateOf(entry),
    };
    this.#watching = new Watching(background);
    this.#listener = new EventListener(background);
  }

  /** A pipeline with the trigger `event` starts with a full run. */
  async add(caller: Caller, opened: OpenCollection, input: NewPipeline): Promise<PipelineView> {
    const scope = this.#require(caller, opened, "ADMIN", "Adding a pipeline");
    const { collection } = opened;
    const nowMs = this.#deps.clock.now();
    const pipeline = readNewPipeline(input, { id: this.#deps.newId(), by: caller.userId, nowMs });
    mayAdd(collection, pipeline);
    await this.#checkSource(scope.tenant, pipeline);
    const nextMs = pipeline.schedule === null ? undefined : nextRunAt(pipeline.schedule, nowMs);
    await this.#registry.put(scope.tenant, collection, pipeline, nextMs);
    try {
      await this.#collections.change(
        caller,
        collection.repository_id,
        collection.collection_id,
        "Adding a pipeline",
        undefined,
        (current) => {
          if (current.incarnation !== collection.incarnation)
            throw new PinakesError(
              "CONFLICT",
              `Collection "${collection.collection_id}" was deleted and created again.`,
            );
          mayAdd(current, pipeline);
          return { pipelines: [...current.pipelines, pipeline] };
        },
      );
    } catch (error) {
      await this.#registry.remove(scope.tenant, collection.incarnation, pipeline.pipeline_id);
      throw error;
    }
    await this.#firstRun(caller, collection, pipeline);
    return this.#view(pipeline);
  }

  /**
   * Creates a collection with its pipelines, all or none: errors are reported before anything is stored, and the pipelines are part of the
   * created record. Registry entries come first, as in `add`; without their collection they do nothing, and are removed.
   */
  async createWith(caller: Caller, inputs: readonly NewPipeline[], create: CreateCollection): Promise<OpenCollection> {
    if (inputs.length === 0) return create();
    const { tenant } = requireCaller(caller);
    const undo: (() => Promise<void>)[] = [];
    let opened: OpenCollection;
    try {
      opened = await create(async (fresh) => {
        this.#require(caller, fresh, "ADMIN", "Adding a pipeline");
        const nowMs = this.#deps.clock.now();
        let { collection } = fresh;
        for (const input of inputs) {
          const pipeline = readNewPipeline(input, { id: this.#deps.newId(), by: caller.userId, nowMs });
          mayAdd(collection, pipeline);
          await this.#checkSource(tenant, pipeline);
          collection = { ...collection, pipelines: [...collection.pipelines, pipeline] };
        }
        const { incarnation, pipelines } = collection;
        for (const pipeline of pipelines) {
          undo.push(() => this.#registry.remove(tenant, incarnation, pipeline.pipeline_id));
          await this.#registry.put(
            tenant,
            collection,
            pipeline,
            pipeline.schedule === null ? undefined : nextRunAt(pipeline.schedule, nowMs),
          );
        }
        return collection;
      });
    } catch (error) {
      await Promise.all(undo.map((remove) => remove()));
      throw error;
    }
    for (const pipeline of opened.collection.pipelines) await this.#firstRun(caller, opened.collection, pipeline);
    return opened;
  }

  /** Throws unless these pipelines are valid, and the operator allows their sources. */
  async check(caller: Caller, inputs: readonly NewPipeline[]): Promise<void> {
    const { tenant } = requireCaller(caller);
    const nowMs = this.#deps.clock.now();
    for (const input of inputs)
      await this.#checkSource(tenant, readNewPipeline(input, { id: "", by: caller.userId, nowMs }));
  }

  async #firstRun(
    caller: Caller,
    { repository_id, collection_id }: CollectionRecord,
    { trigger, pipeline_id }: PipelineSettings,
  ): Promise<void> {
    if (trigger !== "event") return;
    await this.#jobs.start(caller.scope, { repository_id, collection_id, pipeline_id }, caller.userId);
    this.#watching.hurry();
  }

  list({ collection }: OpenCollection): readonly PipelineView[] {
    return collection.pipelines.map((pipeline) => this.#view(pipeline));
  }

  /** Its documents stay; a new pipeline on the same source adopts them. */
  async remove(caller: Caller, opened: OpenCollection, pipelineId: string): Promise<PipelineView> {
    const scope = this.#require(caller, opened, "ADMIN", "Deleting a pipeline");
    const { repository_id, collection_id, incarnation } = opened.collection;
    const removed = findPipeline(opened, pipelineId);
    await this.#collections.change(
      caller,
      repository_id,
      collection_id,
      "Deleting a pipeline",
      undefined,
      (current) => {
        if (current.status === "ARCHIVED") throw archived(current);
        findPipeline({ collection: current }, pipelineId);
        return { pipelines: current.pipelines.filter(({ pipeline_id }) => pipeline_id !== pipelineId) };
      },
    );
    await this.#registry.remove(scope.tenant, incarnation, pipelineId);
    this.#watching.hurry();
    return this.#view(removed);
  }

  async plan(caller: Caller, opened: OpenCollection, pipelineId: string): Promise<PipelinePlan> {
    const scope = this.#require(caller, opened, "ADMIN", "Planning a pipeline");
    const pipeline = findPipeline(opened, pipelineId);
    const { add, replace, gone, unchanged, skipped, documents } = await planAll(
      await this.#jobs.planParts(scope, opened, pipeline),
    );
    const first = (list: readonly { readonly uri: string }[]) =>
      list.slice(0, pipelineLimits.planNamesMax).map(({ uri }) => uri);
    const [remove, keep] = pipeline.auto_remove ? [gone, []] : [[], gone];
    const counts = {
      add: add.length,
      replace: replace.length,
      remove: remove.length,
      keep: keep.length,
      unchanged,
      skipped: skipped.length,
    };
    return {
      pipeline_id: pipelineId,
      counts,
      add: first(add),
      replace: first(replace),
      remove: first(remove),
      keep: first(keep),
      skipped: skipped.slice(0, pipelineLimits.planNamesMax),
      blocked: removalGuard(pipeline, gone.length, documents) ?? null,
    };
  }

  async run(
    caller: Caller,
    opened: OpenCollection,
    pipelineId: string,
    { force }: { readonly force?: boolean | undefined } = {},
  ): Promise<JobRecord> {
    const scope = this.#require(caller, opened, "ADMIN", "Running a pipeline");
    return this.#jobs.start(scope, target(opened, pipelineId), caller.userId, { force });
  }

  /**
   * A bucket's event about a changed object. It only says where to look: the bucket itself is queried, so WRITE access suffices, and a late
   * or forged event does no harm.
   */
  async notify(caller: Caller, opened: OpenCollection, pipelineId: string, body: unknown): Promise<Notified> {
    const scope = this.#require(caller, opened, "WRITE", "Notifying a pipeline");
    const pipeline = findPipeline(opened, pipelineId);
    if (pipeline.trigger !== "event" || !pipeline.source.startsWith("s3:"))
      throw invalid(
        `Pipeline "${pipelineId}" does not accept events: only a pipeline on a bucket with the trigger event does. Run it instead.`,
      );
    const named = readS3Events(body).map(({ bucket, key }) => `s3://${bucket}/${key}`);
    const uris = named.filter((uri) => uri.startsWith(filesBegin(pipeline.source)));
    const job =
      uris.length === 0 ? null : await this.#jobs.start(scope, target(opened, pipelineId), caller.userId, { uris });
    return { accepted: uris.length, ignored: named.length - uris.length, job };
  }

  /** Registers the pipelines of imported records with the background work. */
  async register(scope: Scope, collection: CollectionRecord): Promise<void> {
    for (const pipeline of collection.pipelines) {
      const next = pipeline.schedule === null ? undefined : nextRunAt(pipeline.schedule, this.#deps.clock.now());
      await this.#registry.put(scope.tenant, collection, pipeline, next);
    }
    this.#watching.hurry();
  }

  /** Watches folders until the signal. */
  async startWatching(signal: AbortSignal, succeeded?: () => void): Promise<void> {
    await this.#watching.run(signal, succeeded);
  }

  /** The background work of this process: none without allowed sources. */
  get background(): { readonly watch: boolean; readonly listen: boolean; readonly schedule: boolean } {
    return {
      watch: this.#places.haveFolders,
      listen: this.#places.events !== undefined,
      schedule: this.#places.haveAny,
    };
  }

  /** Processes bucket events from their queue until the signal. */
  async listen(signal: AbortSignal, succeeded?: () => void): Promise<void> {
    if (this.#places.events === undefined) return;
    const events = await this.#places.events();
    try {
      await this.#listener.run(events, signal, succeeded);
    } finally {
      await events.close();
    }
  }

  /** Starts due pipelines. Safe in several processes at once: each time is claimed by one. Missed times are made up by a single run. */
  async sweepSchedules(signal: AbortSignal): Promise<void> {
    for await (const entry of this.#registry.due(this.#deps.clock.now())) {
      if (signal.aborted) return;
      const state = await this.#stateOf(entry);
      if (state.status === "gone") continue;
      const now = this.#deps.clock.now();
      const claimed = await this.#registry.reschedule(entry, now + claimMs);
      if (claimed === undefined) continue;
      if (state.status !== "ready") {
        await this.#registry.reschedule(claimed, now + asleepMs);
        continue;
      }
      const { created_by, schedule } = state.pipeline;
      await this.#jobs.start(this.#deps.system.forTenant(entry.tenant), entry, created_by);
      await this.#registry.reschedule(claimed, schedule === null ? undefined : nextRunAt(schedule, now));
    }
  }

  async #stateOf(entry: StoredEntry): Promise<EntryState> {
    const found = await this.#catalog.collection(
      this.#deps.system.forTenant(entry.tenant),
      entry.repository_id,
      entry.collection_id,
    );
    const same = found?.record.incarnation === entry.incarnation ? found.record : undefined;
    const pipeline = same?.pipelines.find(({ pipeline_id }) => pipeline_id === entry.pipeline_id);
    if (pipeline !== undefined) return same?.status === "ACTIVE" ? { status: "ready", pipeline } : { status: "asleep" };
    if (this.#deps.clock.now() - entry.registered_at >= entryRestMs)
      await this.#registry.remove(entry.tenant, entry.incarnation, entry.pipeline_id);
    return { status: "gone" };
  }

  /** Refuses a source at once if it does not exist or is not allowed for the workspace. */
  async #checkSource(tenant: string, pipeline: PipelineSettings): Promise<void> {
    try {
      await this.#jobs.open(tenant, pipeline);
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.code === "FORBIDDEN") throw error;
      throw invalid(`source: ${error.detail}`, { cause: error });
    }
  }

  #require(
    caller: Caller,
    { decision, collection }: Omit<OpenCollection, "etag">,
    level: Level,
    action: string,
  ): Scope {
    const scope = requireCaller(caller);
    requireLevel(decision, level, `collection "${collection.collection_id}"`, action);
    return scope;
  }

  #view(pipeline: PipelineSettings): PipelineView {
    const next = pipeline.schedule === null ? undefined : nextRunAt(pipeline.schedule, this.#deps.clock.now());
    return { ...pipeline, next_run_at: next === undefined ? null : isoTime(next) };
  }
}

/** Delay until a due pipeline of an archived or deleted collection is checked again. */
const asleepMs = 3_600_000;

function target(opened: OpenCollection, pipelineId: string) {
  const { repository_id, collection_id } = opened.collection;
  return { repository_id, collection_id, pipeline_id: findPipeline(opened, pipelineId).pipeline_id };
}

/** Each document belongs to one pipeline, so no two pipelines of a collection may read the same files. */
function mayAdd(collection: CollectionRecord, { source }: PipelineSettings): void {
  if (collection.status === "ARCHIVED") throw archived(collection);
  if (collection.status !== "ACTIVE")
    throw new PinakesError("CONFLICT", `Collection "${collection.collection_id}" is ${collection.status}.`);
  if (collection.pipelines.length >= knowledgeLimits.pipelinesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The collection already has ${knowledgeLimits.pipelinesMax} pipelines, the maximum. Delete one first.`,
    );
  const other = collection.pipelines.find((existing) => overlap(existing.source, source));
  if (other !== undefined)
    throw new PinakesError(
      "CONFLICT",
      `Pipeline "${other.pipeline_id}" of the collection reads ${other.source}, which overlaps ${source}.`,
    );
}
