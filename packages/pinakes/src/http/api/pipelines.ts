/** Pipelines over HTTP. */
import { pipelineTriggers } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, created, defineRoute, ok, type Route } from "../framework/index.ts";
import { chunkingInput, cid, id, Job, rid } from "./schemas.ts";

const all = "/v1/repositories/{rid}/collections/{cid}/pipelines";
const one = `${all}/{pid}`;
const params = z.object({ rid, cid, pid: id.describe("Id of the pipeline.") });

const Pipeline = shape<
  wire.ScheduledPipeline,
  "schedule" | "chunking_strategy" | "max_removal_share" | "created_by" | "next_run_at"
>()(
  z
    .looseObject({
      pipeline_id: z.string(),
      trigger: z.enum(pipelineTriggers),
      source: z.string(),
      auto_remove: z.boolean(),
      created_at: z.string(),
    })
    .meta({ id: "Pipeline" }),
);
const Plan = shape<wire.PipelinePlan, "add" | "replace" | "remove" | "keep" | "skipped">()(
  z
    .looseObject({ pipeline_id: z.string(), counts: z.record(z.string(), z.number()), blocked: z.string().nullable() })
    .meta({ id: "PipelinePlan" }),
);

export const newPipeline = z.strictObject({
  trigger: z.enum(pipelineTriggers).describe("When a file changes, or on a schedule."),
  source: z.string().describe("`file:/folder` or `s3://bucket/prefix`."),
  schedule: z.string().nullable().optional().describe("Cron in UTC, or daily, hourly, weekly; default daily."),
  auto_remove: z.boolean().optional().describe("Whether a document is deleted when its file is gone; default false."),
  chunking_strategy: chunkingInput.optional(),
  max_removal_share: z
    .number()
    .optional()
    .describe("A run that would remove more than this share stops instead; default 0.5."),
});

export function pipelineRoutes(knowledge: Knowledge): readonly Route[] {
  return [...recordRoutes(knowledge), ...runRoutes(knowledge)];
}

function recordRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: all,
      operationId: "createPipeline",
      summary: "Create a pipeline that keeps a collection in sync with a folder or bucket prefix",
      description:
        "Sources must be allowed by the operator of the server. Pipelines are immutable: delete and create a new one to change it.",
      tag: "pipelines",
      auth: "caller",
      idempotent: true,
      params: z.object({ rid, cid }),
      body: newPipeline,
      answers: { 201: { description: "The pipeline.", schema: Pipeline } },
      handler: async ({ caller, params: p, body }) =>
        created(await knowledge.pipelines.create(caller, p.rid, p.cid, body)),
    }),
    defineRoute({
      method: "GET",
      path: all,
      operationId: "listPipelines",
      summary: "List the pipelines of a collection",
      tag: "pipelines",
      auth: "caller",
      params: z.object({ rid, cid }),
      answers: { 200: { description: "All pipelines.", schema: pageOf(Pipeline) } },
      handler: async ({ caller, params: p }) => ok(await knowledge.pipelines.list(caller, p.rid, p.cid)),
    }),
    defineRoute({
      method: "DELETE",
      path: one,
      operationId: "deletePipeline",
      summary: "Delete a pipeline; its documents stay",
      tag: "pipelines",
      auth: "caller",
      params,
      answers: { 200: { description: "The deleted pipeline.", schema: Pipeline } },
      handler: async ({ caller, params: p }) => ok(await knowledge.pipelines.delete(caller, p.rid, p.cid, p.pid)),
    }),
  ];
}

function runRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${one}:plan`,
      operationId: "planPipeline",
      summary: "Preview a run; nothing is changed",
      tag: "pipelines",
      auth: "caller",
      params,
      answers: { 200: { description: "What would be added, replaced, removed and skipped.", schema: Plan } },
      handler: async ({ caller, params: p }) => ok(await knowledge.pipelines.plan(caller, p.rid, p.cid, p.pid)),
    }),
    defineRoute({
      method: "POST",
      path: `${one}:run`,
      operationId: "runPipeline",
      summary: "Run a pipeline now",
      tag: "pipelines",
      auth: "caller",
      params,
      body: z
        .strictObject({
          force: z.boolean().optional().describe("Run even if the guard against mass removal would stop it."),
        })
        .optional(),
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, params: p, body }) => {
        const job = await knowledge.pipelines.run(caller, p.rid, p.cid, p.pid, body ?? {});
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
    defineRoute({
      method: "POST",
      path: `${one}:notify`,
      operationId: "notifyPipeline",
      summary: "Notify a pipeline of changed files, in the format of S3 or EventBridge",
      tag: "pipelines",
      auth: "caller",
      params,
      body: z.json(),
      answers: {
        202: {
          description: "The number of files that belong to the pipeline, and the job.",
          schema: z.looseObject({ accepted: z.number(), ignored: z.number() }),
        },
      },
      handler: async ({ caller, params: p, body }) =>
        accepted(await knowledge.pipelines.notify(caller, p.rid, p.cid, p.pid, body)),
    }),
  ];
}
