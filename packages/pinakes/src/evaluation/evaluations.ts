/**
 * Stored evaluations: queries with the documents that they should find, run repeatedly to measure changes. The record is an item; the
 * queries and their outcomes, which may be large, are objects (question-store.ts).
 *
 * Visible to its creator and to admins. A run searches as the user who started it, with that user's access.
 */
import { fusions, roles, searchModes } from "@pinakes/client";
import { z } from "zod";
import { defineContainer, type Stored } from "../containers/index.ts";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { hasCode, PinakesError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import { Later, type JobRecord, type Jobs, type JobTools } from "../knowledge/jobs/jobs.ts";
import { notFound } from "../knowledge/access/access.ts";
import type { OpenCollection } from "../knowledge/access/open-collection.ts";
import { checkLimit } from "../knowledge/collections/list-collections.ts";
import { checkAskedId } from "../knowledge/records/names.ts";
import { isoTime } from "../knowledge/records/times.ts";
import type { ListPage, Paging } from "../knowledge/records/paging.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import type { SearchInput } from "../knowledge/search/search-input.ts";
import type { SearchResult } from "../knowledge/search/search-result.ts";
import { jobView, type JobView } from "../knowledge/views.ts";
import { readConfiguration, type Configuration } from "./configuration.ts";
import { checkEvaluation, evaluationLimits, type NewEvaluation } from "./evaluation-input.ts";
import { mean, ndcgAt, percentile, recallAt, reciprocalRankAt, runQueries, type Answered } from "./measure.ts";
import { QuestionStore } from "./question-store.ts";
import { outcomeOf, questionsPage, runPage, type QuestionView, type RunQuestionView } from "./question-views.ts";

const Run = z.object({
  job_id: z.string(),
  finished_at: z.string(),
  run_by: z.string(),
  configuration: z.object({
    mode: z.enum(searchModes).optional(),
    fusion: z.enum(fusions).optional(),
    vector_weight: z.number().optional(),
    diversity: z.number().optional(),
  }),
  queries: z.number(),
  k: z.number(),
  ndcg: z.number(),
  recall: z.number(),
  mrr: z.number(),
  search_ms_p50: z.number(),
  search_ms_p95: z.number(),
});
export type EvaluationRun = z.infer<typeof Run>;

const Evaluation = z.object({
  id: z.string(),
  evaluation_id: z.string(),
  name: z.string(),
  collections: z.array(z.object({ repository: z.string(), collection: z.string() })),
  query_count: z.number(),
  k: z.number(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Newest first. */
  runs: z.array(Run),
});
type EvaluationRecord = z.infer<typeof Evaluation>;

export type EvaluationView = Readonly<Omit<EvaluationRecord, "id">>;

const container = defineContainer({
  name: "evaluations",
  partitionKey: ["evaluation_id"],
  schema: Evaluation,
  indexes: {
    byCreated: { partition: [], sort: ["created_at"] },
    byCreator: { partition: ["created_by"], sort: ["created_at"] },
  },
});
type Records = Awaited<ReturnType<typeof container.open>>;

/** Progress interval of a run, in queries. */
const queriesPerTell = 20;

const JobInput = z.object({
  evaluation_id: z.string(),
  configuration: z.unknown(),
  who: z.object({ userId: z.string(), groups: z.array(z.string()), role: z.enum(roles) }),
});

export interface EvaluationTools {
  readonly jobs: Jobs;
  readonly open: (caller: Caller, repositoryId: string, collectionId: string) => Promise<OpenCollection>;
  readonly search: (caller: Caller, input: SearchInput) => Promise<SearchResult>;
}

export class Evaluations {
  readonly #deps: KnowledgeDependencies;
  readonly #tools: EvaluationTools;
  readonly #questions: QuestionStore;
  /** Jobs of this process that hold a slot. */
  readonly #admitted = new Set<string>();
  #opening: Promise<Records> | undefined;

  constructor(deps: KnowledgeDependencies, tools: EvaluationTools) {
    this.#deps = deps;
    this.#tools = tools;
    this.#questions = new QuestionStore(deps.objects);
    tools.jobs.register("evaluation", (scope, job, jobTools) => this.#placed(scope, job, jobTools));
  }

  async create(caller: Caller, input: NewEvaluation): Promise<EvaluationView> {
    const scope = requireCaller(caller);
    const { name, collections, queries, k } = checkEvaluation(input);
    const opened = await Promise.all(
      collections.map(({ repository, collection }) => this.#tools.open(caller, repository, collection)),
    );
    const evaluation_id = this.#deps.newId();
    const now = isoTime(this.#deps.clock.now());
    await this.#questions.put(scope, evaluation_id, queries);
    const records = await this.#records();
    try {
      const record = await records.create(scope, {
        id: evaluation_id,
        evaluation_id,
        name,
        // Resolved ids: "me" is another repository for another caller.
        collections: opened.map(({ collection }) => ({
          repository: collection.repository_id,
          collection: collection.collection_id,
        })),
        query_count: queries.length,
        k,
        created_by: caller.userId,
        created_at: now,
        updated_at: now,
        runs: [],
      });
      return view(record);
    } catch (error) {
      await this.#questions.removeAll(scope, evaluation_id).catch((cause: unknown) => {
        this.#deps.log(
          `the queries of evaluation ${evaluation_id}, which could not be created, could not be removed: ${String(cause)}`,
        );
      });
      throw error;
    }
  }

  /** The caller's own; for admins everyone's. Newest first. */
  async list(caller: Caller, { limit, cursor }: Paging = {}): Promise<ListPage<EvaluationView>> {
    const scope = requireCaller(caller);
    const records = await this.#records();
    const paging = { order: "desc", limit: checkLimit(limit), cursor } as const;
    const page =
      caller.role === "admin"
        ? await records.query(scope, "byCreated", { equals: {}, ...paging })
        : await records.query(scope, "byCreator", { equals: { created_by: caller.userId }, ...paging });
    return { items: page.items.map(view), next_cursor: page.cursor ?? null };
  }

  async get(caller: Caller, evaluationId: string): Promise<EvaluationView> {
    const scope = requireCaller(caller);
    checkAskedId(evaluationId, "evaluation_id");
    const record = await (await this.#records()).read(scope, { evaluation_id: evaluationId, id: evaluationId });
    if (record === undefined || (caller.role !== "admin" && record.created_by !== caller.userId))
      throw notFound(`evaluation "${evaluationId}"`);
    return view(record);
  }

  /** Its queries with their relevant documents. */
  async questions(caller: Caller, evaluationId: string, paging: Paging = {}): Promise<ListPage<QuestionView>> {
    await this.get(caller, evaluationId);
    return questionsPage(await this.#questions.read(caller.scope, evaluationId), paging);
  }

  /** The outcome of each query in a stored run. */
  async runQuestions(
    caller: Caller,
    evaluationId: string,
    runId: string,
    paging: Paging = {},
  ): Promise<ListPage<RunQuestionView>> {
    const { runs } = await this.get(caller, evaluationId);
    const run = runs.find(({ job_id }) => job_id === runId);
    if (run === undefined) throw notFound(`run "${runId}" of evaluation "${evaluationId}"`);
    const [queries, outcomes] = await Promise.all([
      this.#questions.read(caller.scope, evaluationId),
      this.#questions.readRun(caller.scope, evaluationId, runId),
    ]);
    if (outcomes === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `The queries of run "${runId}" were not stored, only its means. Run it again.`,
      );
    return runPage(queries, outcomes, caller.role === "admin" || run.run_by === caller.userId, paging);
  }

  /** With its queries and runs. A run in progress fails. */
  async delete(caller: Caller, evaluationId: string): Promise<void> {
    await this.get(caller, evaluationId);
    const { scope } = caller;
    await this.#questions.removeAll(scope, evaluationId);
    await (await this.#records()).delete(scope, { evaluation_id: evaluationId, id: evaluationId });
    // Objects that a run wrote meanwhile. A run that ends later finds no record, and removes its own.
    await this.#questions.removeAll(scope, evaluationId);
  }

  /**
   * Runs as a job; its result has the metrics, and the evaluation keeps those of its last runs. NOT_FOUND if the caller cannot (or can no
   * longer) read one of the collections. THROTTLED if all slots for runs are in use: a run holds its slot from here until the job ends.
   */
  async run(
    caller: Caller,
    evaluationId: string,
    input: Configuration = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<JobView> {
    const configuration = readConfiguration(input, "run");
    const { collections } = await this.get(caller, evaluationId);
    await Promise.all(
      collections.map(({ repository, collection }) => this.#tools.open(caller, repository, collection)),
    );
    const { userId, groups, role } = caller;
    const slot = await this.#deps.places?.evaluations.enter(caller.scope.tenant, signal);
    const job_id = this.#deps.newId();
    this.#admitted.add(job_id);
    const ended = (): void => {
      this.#admitted.delete(job_id);
      slot?.leave();
    };
    const newJob = {
      kind: "evaluation",
      // Not a valid collection: the job is for the user who started it and for admins, like the evaluation.
      repository_id: evaluationId,
      collection_id: "",
      created_by: userId,
      input: {
        evaluation_id: evaluationId,
        configuration: { ...configuration },
        who: { userId, groups: [...groups], role },
      },
    } as const;
    try {
      return jobView(await this.#tools.jobs.start(caller.scope, newJob, { job_id, ended }));
    } catch (error) {
      ended();
      throw error;
    }
  }

  /** A run started elsewhere, or retried, has no slot yet: without a free one it resumes later. */
  async #placed(scope: Scope, job: JobRecord, tools: JobTools): Promise<JsonObject> {
    const run = () => this.#run(scope, job, tools);
    const { places } = this.#deps;
    if (places === undefined || this.#admitted.has(job.job_id)) return run();
    const slot = await places.evaluations.enter(scope.tenant, tools.signal).catch((error: unknown) => {
      throw hasCode(error, "THROTTLED") ? new Later(error.message) : error;
    });
    return run().finally(() => slot.leave());
  }

  async #run(scope: Scope, job: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
    const { evaluation_id, configuration: requested, who } = JobInput.parse(job.input);
    const configuration = readConfiguration(requested, "run");
    const caller = this.#deps.callerOf({ tenant: scope.tenant, ...who });
    const { collections, k } = await this.#orClear(scope, evaluation_id, job.job_id, this.get(caller, evaluation_id));
    const queries = await this.#questions.read(scope, evaluation_id);
    const total = queries.length;
    await tell({ done: 0, total });
    const answered = await runQueries({
      search: (query) => this.#tools.search(caller, { ...query, group_by: "document" }),
      collections,
      queries,
      configuration,
      limit: k,
      documentOf: (hit) => hit.document_id,
      onQuery: async (done) => {
        if (done % queriesPerTell === 0 || done === total) await tell({ done, total });
      },
      signal,
    });
    const run: EvaluationRun = {
      job_id: job.job_id,
      finished_at: isoTime(this.#deps.clock.now()),
      run_by: who.userId,
      configuration,
      ...qualityOf(answered, k),
    };
    const outcomes = answered.map((one) => outcomeOf(one, k));
    await this.#questions.putRun(scope, evaluation_id, job.job_id, outcomes);
    await this.#orClear(scope, evaluation_id, job.job_id, this.#keep(scope, evaluation_id, run));
    return run;
  }

  /** A concurrent delete of the evaluation may have missed what this run wrote. */
  async #orClear<Result>(scope: Scope, evaluationId: string, runId: string, step: Promise<Result>): Promise<Result> {
    try {
      return await step;
    } catch (error) {
      if (hasCode(error, "NOT_FOUND")) await this.#questions.removeRuns(scope, evaluationId, [runId]);
      throw error;
    }
  }

  /** A job repeated after a crash replaces its earlier run. */
  async #keep(scope: Scope, evaluation_id: string, run: EvaluationRun): Promise<void> {
    let gone: readonly EvaluationRun[] = [];
    const records = await this.#records();
    await records.update(scope, { evaluation_id, id: evaluation_id }, ({ _etag, _ts, ...record }) => {
      const runs = [run, ...record.runs.filter(({ job_id }) => job_id !== run.job_id)];
      gone = runs.slice(evaluationLimits.runsMax);
      return { ...record, updated_at: run.finished_at, runs: runs.slice(0, evaluationLimits.runsMax) };
    });
    const ids = gone.map(({ job_id }) => job_id);
    await this.#questions.removeRuns(scope, evaluation_id, ids).catch((cause: unknown) => {
      this.#deps.log(
        `objects of the runs ${ids.join(", ")} of evaluation ${evaluation_id} remain until it is deleted: ${String(cause)}`,
      );
    });
  }

  /** Opened on first use. */
  async #records(): Promise<Records> {
    this.#opening ??= container.open(this.#deps.items);
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}

function qualityOf(answered: readonly Answered[], k: number) {
  const times = answered.map(({ searchMs }) => searchMs);
  return {
    queries: answered.length,
    k,
    ndcg: mean(answered.map(ndcgAt(k).of)),
    recall: mean(answered.map(recallAt(k).of)),
    mrr: mean(answered.map(reciprocalRankAt(k).of)),
    search_ms_p50: percentile(times, 0.5),
    search_ms_p95: percentile(times, 0.95),
  };
}

function view({ id: _, _etag, _ts, ...record }: Stored<EvaluationRecord>): EvaluationView {
  return record;
}
