/**
 * Jobs: long work as a record of its kind, progress and error. A job in progress is in the work registry, so another process resumes it
 * when this one dies. Jobs are idempotent: a job restarts from its beginning.
 */
import { jobStatuses } from "@pinakes/client";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { days, defineContainer, type Stored } from "../../containers/index.ts";
import { reasonOf } from "../../domain/log.ts";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { KnowledgeWork } from "../records/work-registry.ts";
import type { Paging } from "../records/paging.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

export const jobKinds = [
  "ingest",
  "delete",
  "purge",
  "archive",
  "restore",
  "reindex",
  "delete-repository",
  "delete-documents",
  "attach-files",
  "pipeline",
  "evaluation",
  "import",
  "fsck",
  "erasure",
  "subject-export",
] as const;
export type JobKind = (typeof jobKinds)[number];

const Job = z.object({
  id: z.string(),
  job_id: z.string(),
  kind: z.enum(jobKinds),
  status: z.enum(jobStatuses),
  progress: z.object({ done: z.number(), total: z.number() }),
  attempts: z.number(),
  error: z.string().nullable(),
  result: z.record(z.string(), z.unknown()).nullable(),
  input: z.record(z.string(), z.unknown()),
  repository_id: z.string(),
  collection_id: z.string(),
  /** The incarnation of the collection; absent in jobs of earlier versions, and without a collection. */
  incarnation: z.string().optional(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type JobRecord = z.infer<typeof Job>;

const jobsContainer = defineContainer({
  name: "jobs",
  partitionKey: ["job_id"],
  schema: Job,
  indexes: {
    byCreated: { partition: [], sort: ["created_at"] },
    byCollection: { partition: ["repository_id", "collection_id"], sort: ["created_at"] },
  },
  ttl: days(90),
  feed: true,
});

type JobRecords = Awaited<ReturnType<typeof jobsContainer.open>>;

/** Absent: any. */
export interface JobQuery extends Paging {
  readonly repository?: string | undefined;
  readonly kinds?: readonly JobKind[] | undefined;
  readonly created_by?: string | undefined;
  /** Created at this time or later; the same on every page. */
  readonly since?: string | undefined;
}

export interface NewJob {
  readonly kind: JobKind;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation?: string | undefined;
  readonly created_by: string;
  readonly input?: JsonObject;
}

/** Thrown by a job that cannot proceed now: it resumes by itself, and has not failed. */
export class Later extends Error {
  override readonly name = "Later";
}

/** Executes a job; reports progress through `tell` and returns the result. */
export type JobRunner = (scope: Scope, job: JobRecord, tools: JobTools) => Promise<JsonObject>;

export interface JobTools {
  readonly signal: AbortSignal;
  readonly tell: (progress: { done: number; total: number }) => Promise<void>;
}

export type JobState = Pick<JobRecord, "status" | "progress" | "attempts" | "error" | "result">;

const attemptsMax = 5;
/** A job without a heartbeat for this long is taken over. */
const silentMsMax = 60_000;
const beatMs = 15_000;

export class Jobs {
  readonly #deps: KnowledgeDependencies;
  readonly #registry: KnowledgeWork;
  readonly #runners = new Map<JobKind, JobRunner>();
  readonly #underWay = new Map<string, Promise<JobRecord>>();
  readonly #stopping = new AbortController();
  #records!: JobRecords;

  constructor(deps: KnowledgeDependencies, registry: KnowledgeWork) {
    this.#deps = deps;
    this.#registry = registry;
  }

  async open(): Promise<this> {
    this.#records = await jobsContainer.open(this.#deps.items);
    return this;
  }

  register(kind: JobKind, runner: JobRunner): void {
    this.#runners.set(kind, runner);
  }

  /**
   * Queues the job durably and runs it in this process; another process takes over if this one dies. `ended` is called when the run in this
   * process is over, whatever its outcome.
   */
  async start(
    scope: Scope,
    input: NewJob,
    { job_id = this.#deps.newId(), ended }: { readonly job_id?: string; readonly ended?: () => void } = {},
  ): Promise<JobRecord> {
    const { repository_id, collection_id } = input;
    await this.#registry.mark(
      { kind: "job", tenant: scope.tenant, repository_id, collection_id, incarnation: job_id },
      this.#deps.clock.now() + silentMsMax,
    );
    const job = await this.note(scope, input, job_id);
    void this.run(scope, job_id)
      .catch((error: unknown) => this.#deps.log(`job ${job_id} of ${scope.tenant}: ${reasonOf(error)}`, "error"))
      .finally(ended);
    return job;
  }

  /** Only the record, for work that is not run here. */
  async note(scope: Scope, input: NewJob, job_id = this.#deps.newId()): Promise<JobRecord> {
    const now = isoTime(this.#deps.clock.now());
    const { kind, repository_id, collection_id, incarnation, created_by } = input;
    return this.#records.create(scope, {
      id: job_id,
      job_id,
      kind,
      status: "queued",
      progress: { done: 0, total: 0 },
      attempts: 0,
      error: null,
      result: null,
      input: input.input ?? {},
      repository_id,
      collection_id,
      ...(incarnation === undefined ? {} : { incarnation }),
      created_by,
      created_at: now,
      updated_at: now,
    });
  }

  /** Updates the state of work carried out elsewhere. Creates the record if a crash prevented it; a finished job stays finished. */
  async tell(scope: Scope, input: NewJob & { readonly job_id: string }, state: JobState): Promise<JobRecord> {
    const known = await this.read(scope, input.job_id);
    // Called repeatedly while an operation waits: an unchanged state writes nothing.
    if (known !== undefined && (isSettled(known) || saysTheSame(known, state))) return known;
    if (known === undefined) {
      await this.note(scope, input, input.job_id).catch((error: unknown) => {
        if (!hasCode(error, "CONFLICT")) throw error;
      });
    }
    return this.#update(scope, input.job_id, (record) => (isSettled(record) ? record : { ...record, ...state }));
  }

  /** Cancels a job that another one replaces. */
  async supersede(scope: Scope, jobId: string): Promise<void> {
    if ((await this.read(scope, jobId)) === undefined) return;
    await this.#update(scope, jobId, (record) =>
      record.status === "succeeded" ? record : { ...record, status: "cancelled" },
    );
  }

  /** State of a job whose process may have died: "over", "alive" while there are heartbeats, or "silent". */
  async stateOf(scope: Scope, jobId: string): Promise<"over" | "alive" | "silent"> {
    const job = await this.read(scope, jobId);
    if (job === undefined || (job.status !== "queued" && job.status !== "running")) return "over";
    return this.#deps.clock.now() - Date.parse(job.updated_at) < silentMsMax ? "alive" : "silent";
  }

  /** Runs it to its end; joins a run already in progress here. */
  async run(scope: Scope, jobId: string): Promise<JobRecord> {
    const key = `${scope.tenant}/${jobId}`;
    const running = this.#underWay.get(key) ?? this.#run(scope, jobId).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, running);
    return running;
  }

  async read(scope: Scope, jobId: string): Promise<Stored<JobRecord> | undefined> {
    return this.#records.read(scope, { job_id: jobId, id: jobId });
  }

  async list(
    scope: Scope,
    { limit, cursor, repository, kinds, created_by, since }: JobQuery & { readonly limit: number },
  ): Promise<{ items: readonly Stored<JobRecord>[]; cursor?: string }> {
    return this.#records.query(scope, "byCreated", {
      equals: {},
      order: "desc",
      limit,
      cursor,
      filter: {
        ...(repository === undefined ? {} : { repository_id: repository }),
        ...(kinds === undefined ? {} : { kind: { in: [...kinds] } }),
        ...(created_by === undefined ? {} : { created_by }),
      },
      ...(since === undefined ? {} : { range: { gte: since } }),
    });
  }

  /** Restarts a failed or cancelled job. */
  async retry(scope: Scope, jobId: string): Promise<JobRecord> {
    const job = await this.#update(scope, jobId, (record) => {
      if (record.status !== "failed" && record.status !== "cancelled")
        throw new PinakesError(
          "CONFLICT",
          `Job "${jobId}" is ${record.status}; only a failed or cancelled job can be retried.`,
        );
      return { ...record, status: "queued", error: null, attempts: 0 };
    });
    await this.#registry.mark(
      {
        kind: "job",
        tenant: scope.tenant,
        repository_id: job.repository_id,
        collection_id: job.collection_id,
        incarnation: jobId,
      },
      0,
    );
    void this.run(scope, jobId).catch((error: unknown) =>
      this.#deps.log(`job ${jobId} of ${scope.tenant}: ${reasonOf(error)}`, "error"),
    );
    return job;
  }

  /** Takes effect at the job's next step. */
  async cancel(scope: Scope, jobId: string): Promise<JobRecord> {
    return this.#update(scope, jobId, (record) => {
      if (record.status !== "queued" && record.status !== "running")
        throw new PinakesError("CONFLICT", `Job "${jobId}" has ended: it ${record.status}.`);
      return { ...record, status: "cancelled" };
    });
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#underWay.values());
  }

  async #run(scope: Scope, jobId: string): Promise<JobRecord> {
    const { signal } = this.#stopping;
    const known = await this.read(scope, jobId);
    if (known !== undefined && known.status !== "queued" && known.status !== "running") return known;
    for (;;) {
      const job = await this.#update(scope, jobId, (record) =>
        record.status === "queued" || record.status === "running"
          ? { ...record, status: "running", attempts: record.attempts + 1 }
          : record,
      );
      if (job.status !== "running") return job;
      const runner = this.#runners.get(job.kind);
      const beat = setInterval(() => void this.#update(scope, jobId, (record) => record).catch(() => {}), beatMs);
      try {
        if (runner === undefined)
          throw new PinakesError("NOT_SUPPORTED", `This server does not run jobs of kind "${job.kind}".`);
        const result = await runner(scope, job, { signal, tell: (progress) => this.#tell(scope, jobId, progress) });
        return await this.#update(scope, jobId, (record) =>
          record.status === "running" ? { ...record, status: "succeeded", error: null, result } : record,
        );
      } catch (error) {
        if (signal.aborted) return job;
        if (error instanceof Later)
          return await this.#update(scope, jobId, (record) => ({ ...record, error: error.message, attempts: 0 }));
        const failed = await this.#failed(scope, job, error);
        if (failed.status !== "running") return failed;
      } finally {
        clearInterval(beat);
      }
    }
  }

  async #tell(scope: Scope, jobId: string, progress: { done: number; total: number }): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const job = await this.#update(scope, jobId, (record) => ({ ...record, progress }));
    if (job.status !== "running") throw new PinakesError("CONFLICT", `The job was ${job.status}.`);
  }

  /** Transient errors are retried, permanent ones fail the job. */
  async #failed(scope: Scope, job: JobRecord, error: unknown): Promise<JobRecord> {
    const message = error instanceof Error ? error.message : String(error);
    const passing =
      !PinakesError.isInstance(error) ||
      error.retryable ||
      error.code === "PRECONDITION_FAILED" ||
      error.code === "INTERNAL";
    const again = passing && job.attempts < attemptsMax;
    const { job_id, kind, attempts, repository_id, collection_id } = job;
    const line = `job ${job_id} (${kind}) of ${scope.tenant}/${repository_id}/${collection_id} failed (attempt ${attempts}${again ? ", will be retried" : ""}): ${reasonOf(error)}`;
    this.#deps.log(line, again ? "warn" : "error", {
      workspace: scope.tenant,
      job_id,
      kind,
      repository_id,
      collection_id,
      attempt: attempts,
    });
    return this.#update(scope, job.job_id, (record) =>
      record.status === "running" ? { ...record, status: again ? "running" : "failed", error: message } : record,
    );
  }

  async #update(scope: Scope, jobId: string, change: (job: JobRecord) => JobRecord): Promise<JobRecord> {
    return this.#records.update(scope, { job_id: jobId, id: jobId }, (record) => {
      const { _etag, _ts, ...job } = record;
      return { ...change(job), updated_at: isoTime(this.#deps.clock.now()) };
    });
  }
}

function isSettled({ status }: JobRecord): boolean {
  return status === "succeeded" || status === "cancelled";
}

function saysTheSame(job: JobRecord, state: JobState): boolean {
  return isDeepStrictEqual({ ...job, ...state }, job);
}
