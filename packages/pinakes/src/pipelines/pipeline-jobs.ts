/** Runs pipelines as jobs: one at a time per pipeline, across all processes. A second one waits, and then finds little to do. */
import { setTimeout as pause } from "node:timers/promises";
import { PinakesError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { SourceReader } from "../ports/source-reader.ts";
import type { Documents } from "../knowledge/documents/documents.ts";
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import type { Uploads } from "../knowledge/documents/upload.ts";
import type { JobRecord, Jobs, JobTools } from "../knowledge/jobs/jobs.ts";
import { notFound } from "../knowledge/access/access.ts";
import type { Collections } from "../knowledge/collections/collections.ts";
import { archived, type OpenCollection } from "../knowledge/access/open-collection.ts";
import type { PipelineSettings } from "../knowledge/records/records.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import type { Lease, PipelineRegistry } from "./pipeline-registry.ts";
import type { AllowedLocations } from "./allowed-locations.ts";
import {
  countDocuments,
  mayBeTooMany,
  planAll,
  planSome,
  removalGuard,
  type Plan,
  type PlanDependencies,
} from "./plan.ts";
import { carryOut, resultJson } from "./run-pipeline.ts";
import { parseSource } from "./source.ts";

export interface PipelineJobsOptions {
  readonly deps: KnowledgeDependencies;
  readonly collections: Collections;
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly jobs: Jobs;
  readonly registry: PipelineRegistry;
  readonly places: AllowedLocations;
  readonly sourceFilesMax?: number | undefined;
}

export interface RunTarget {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly pipeline_id: string;
}

export interface RunInput {
  /** Even if more would be removed than the pipeline allows. */
  readonly force?: boolean | undefined;
  /** Only these files; all when absent. */
  readonly uris?: readonly string[] | undefined;
}

/** Heartbeat, well within a lease. */
const beatMs = 15_000;
const waitMs = 200;
/** Waits between two heartbeats of a waiting job, which also notice a cancellation. */
const waitsPerTell = 10;

export class PipelineJobs {
  readonly #with: PipelineJobsOptions;

  constructor(deps: PipelineJobsOptions) {
    this.#with = deps;
    deps.jobs.register("pipeline", (scope, job, tools) => this.#run(scope, job, tools));
  }

  async start(
    scope: Scope,
    { pipeline_id, repository_id, collection_id }: RunTarget,
    by: string,
    { force = false, uris }: RunInput = {},
  ): Promise<JobRecord> {
    const input: JsonObject = { pipeline_id, ...(force ? { force } : {}), ...(uris === undefined ? {} : { uris }) };
    return this.#with.jobs.start(scope, { kind: "pipeline", repository_id, collection_id, created_by: by, input });
  }

  /** To its end; joins a run in this process. */
  async finish(scope: Scope, job: JobRecord): Promise<JobRecord> {
    return this.#with.jobs.run(scope, job.job_id);
  }

  async open(tenant: string, pipeline: Pick<PipelineSettings, "source">, signal?: AbortSignal): Promise<SourceReader> {
    const reader = await this.#with.places.open(tenant, parseSource(pipeline.source));
    await reader.check(signal);
    return reader;
  }

  async planParts(
    scope: Scope,
    { repository, collection }: OpenCollection,
    pipeline: PipelineSettings,
    signal?: AbortSignal,
  ): Promise<PlanDependencies> {
    const { deps, sourceFilesMax } = this.#with;
    const reader = await this.open(scope.tenant, pipeline, signal);
    const partition = new CollectionPartition(deps.items, scope, collection);
    return {
      items: deps.items,
      reader,
      partition,
      pipeline,
      repository,
      fileBytesMax: deps.quotas.fileBytesMax,
      sourceFilesMax,
      signal,
    };
  }

  async #run(scope: Scope, job: JobRecord, tools: JobTools): Promise<JsonObject> {
    const { registry, deps } = this.#with;
    const { opened } = await this.#current(scope, job);
    const { incarnation } = opened.collection;
    const lease: Lease = {
      tenant: scope.tenant,
      incarnation,
      pipeline_id: pipelineOf(job),
      what: "run",
      owner: `${job.job_id}.${deps.newId()}`,
    };
    for (let waits = 0; !(await registry.hold(lease)); waits += 1) {
      if (waits % waitsPerTell === 0) await tools.tell({ done: 0, total: 0 });
      await pause(waitMs, undefined, { signal: tools.signal });
    }
    let last = { done: 0, total: 0 };
    const tell: JobTools["tell"] = async (progress) => tools.tell((last = progress));
    // One large file may take longer than the lease, and than a job may be silent.
    const beat = setInterval(() => {
      Promise.all([registry.hold(lease), tools.tell(last)]).catch((error: unknown) =>
        deps.log(`pipeline ${lease.pipeline_id}: heartbeat failed: ${String(error)}`),
      );
    }, beatMs).unref();
    try {
      return await this.#runAlone(scope, job, { signal: tools.signal, tell });
    } finally {
      clearInterval(beat);
      await registry.release(lease);
    }
  }

  async #runAlone(scope: Scope, job: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
    const { deps, uploads, documents } = this.#with;
    const { opened, pipeline } = await this.#current(scope, job);
    const { uris, force } = job.input as { uris?: readonly string[]; force?: boolean };
    const planning = { ...(await this.planParts(scope, opened, pipeline, signal)), jobId: job.job_id };
    const plan = uris === undefined ? await planAll(planning) : await planSome(planning, uris);
    const objection = force === true ? undefined : await this.#objection(planning, plan);
    if (objection !== undefined) throw new PinakesError("CONFLICT", objection);
    const result = await carryOut(
      {
        uploads,
        documents,
        reader: planning.reader,
        pipeline,
        opened,
        caller: deps.callerOf({ tenant: scope.tenant, userId: pipeline.created_by, role: "admin" }),
        jobId: job.job_id,
        signal,
        tell: async (progress) => {
          await tell(progress);
          await this.#current(scope, job);
        },
      },
      plan,
    );
    return resultJson(result);
  }

  /** A series of small removals can still empty the collection: an empty source shows that. */
  async #objection(
    planning: PlanDependencies & { readonly jobId: string },
    plan: Plan & { readonly documents?: number },
  ): Promise<string | undefined> {
    const { pipeline, reader, signal } = planning;
    if (!pipeline.auto_remove || plan.gone.length === 0) return undefined;
    if (plan.documents !== undefined) return removalGuard(pipeline, plan.gone.length, plan.documents);
    const empty = await isEmpty(reader, signal);
    if (!empty && !mayBeTooMany(pipeline, plan.gone.length)) return undefined;
    const documents = await countDocuments(planning);
    return removalGuard(pipeline, empty ? documents : plan.gone.length, documents);
  }

  /** The current settings: a pipeline deleted meanwhile does nothing more. */
  async #current(scope: Scope, job: JobRecord): Promise<{ opened: OpenCollection; pipeline: PipelineSettings }> {
    const caller = this.#with.deps.callerOf({ tenant: scope.tenant, userId: job.created_by, role: "admin" });
    const opened = await this.#with.collections.open(caller, job.repository_id, job.collection_id);
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    return { opened, pipeline: findPipeline(opened, pipelineOf(job)) };
  }
}

export function findPipeline({ collection }: Pick<OpenCollection, "collection">, pipelineId: string): PipelineSettings {
  const found = collection.pipelines.find(({ pipeline_id }) => pipeline_id === pipelineId);
  if (found === undefined) throw notFound(`pipeline "${pipelineId}" in collection "${collection.collection_id}"`);
  return found;
}

function pipelineOf(job: JobRecord): string {
  return job.input["pipeline_id"] as string;
}

async function isEmpty(reader: SourceReader, signal: AbortSignal | undefined): Promise<boolean> {
  for await (const _ of reader.list(signal)) return false;
  return true;
}
