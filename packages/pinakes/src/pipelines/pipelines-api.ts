/** Pipelines as callers see them: by their collection's ids, with jobs as views. */
import type { Caller } from "../domain/caller.ts";
import type { Level } from "../knowledge/access/access.ts";
import type { Collections } from "../knowledge/collections/collections.ts";
import type { OpenCollection } from "../knowledge/access/open-collection.ts";
import type { ListPage } from "../knowledge/records/paging.ts";
import { jobView, type JobView } from "../knowledge/views.ts";
import type { Notified, PipelinePlan, Pipelines, PipelineView } from "./pipelines.ts";
import type { NewPipeline } from "../knowledge/records/new-pipeline.ts";

export interface NotifiedPipeline extends Omit<Notified, "job"> {
  readonly job: JobView | null;
}

export class PipelinesApi {
  readonly #pipelines: Pipelines;
  readonly #collections: Collections;

  constructor(pipelines: Pipelines, collections: Collections) {
    this.#pipelines = pipelines;
    this.#collections = collections;
  }

  /** Throws unless these pipelines are valid, and the operator allows their sources; creates nothing. */
  async check(caller: Caller, inputs: readonly NewPipeline[]): Promise<void> {
    return this.#pipelines.check(caller, inputs);
  }

  async create(caller: Caller, repositoryId: string, collectionId: string, input: NewPipeline): Promise<PipelineView> {
    return this.#pipelines.add(
      caller,
      await this.#open(caller, repositoryId, collectionId, "ADMIN", "Adding a pipeline"),
      input,
    );
  }

  async list(caller: Caller, repositoryId: string, collectionId: string): Promise<ListPage<PipelineView>> {
    return {
      items: this.#pipelines.list(await this.#open(caller, repositoryId, collectionId, "READ", "Reading")),
      next_cursor: null,
    };
  }

  /** Its documents stay. */
  async delete(caller: Caller, repositoryId: string, collectionId: string, pipelineId: string): Promise<PipelineView> {
    return this.#pipelines.remove(
      caller,
      await this.#open(caller, repositoryId, collectionId, "ADMIN", "Deleting a pipeline"),
      pipelineId,
    );
  }

  /** What a run would do now. */
  async plan(caller: Caller, repositoryId: string, collectionId: string, pipelineId: string): Promise<PipelinePlan> {
    return this.#pipelines.plan(
      caller,
      await this.#open(caller, repositoryId, collectionId, "ADMIN", "Planning a pipeline"),
      pipelineId,
    );
  }

  async run(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    pipelineId: string,
    options: { readonly force?: boolean | undefined } = {},
  ): Promise<JobView> {
    const opened = await this.#open(caller, repositoryId, collectionId, "ADMIN", "Running a pipeline");
    return jobView(await this.#pipelines.run(caller, opened, pipelineId, options));
  }

  /** Accepts a bucket event in the format of S3 or EventBridge. */
  async notify(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    pipelineId: string,
    event: unknown,
  ): Promise<NotifiedPipeline> {
    const opened = await this.#open(caller, repositoryId, collectionId, "WRITE", "Notifying a pipeline");
    const { job, ...counts } = await this.#pipelines.notify(caller, opened, pipelineId, event);
    return { ...counts, job: job === null ? null : jobView(job) };
  }

  async #open(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    needed: Level,
    action: string,
  ): Promise<OpenCollection> {
    return this.#collections.open(caller, repositoryId, collectionId, { needed, action });
  }
}
