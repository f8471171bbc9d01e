/** Evaluations over HTTP: questions with relevant documents, and metrics of searches for them. */
import { fusions, searchModes } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, created, defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { id, Job, paging } from "./schemas.ts";

const eid = id.describe("Id of the evaluation.");
const question = {
  number: z.number().describe("Position in the evaluation, from 1."),
  query: z.string(),
  relevant: z.array(z.object({ document_id: z.string(), grade: z.number() })),
};
const Question = shape<wire.EvaluationQuestion>()(z.object(question).meta({ id: "EvaluationQuestion" }));
const RunQuestion = shape<wire.RunQuestion>()(
  z
    .object({
      ...question,
      ndcg: z.number(),
      recall: z.number(),
      mrr: z.number().describe("Reciprocal rank of the first relevant document; 0 if none was found."),
      search_ms: z.number(),
      found: z
        .array(z.object({ document_id: z.string(), rank: z.number() }))
        .describe("Share of the relevant documents among the first k."),
      ranked: z
        .array(z.string())
        .nullable()
        .describe("The first ten documents; null unless the caller started the run or is an admin."),
    })
    .meta({ id: "EvaluationRunQuestion" }),
);
const Evaluation = shape<
  wire.Evaluation,
  "collections" | "query_count" | "k" | "created_by" | "created_at" | "updated_at" | "runs"
>()(z.looseObject({ evaluation_id: z.string(), name: z.string() }).meta({ id: "Evaluation" }));

export function evaluationRoutes(knowledge: Knowledge): readonly Route[] {
  return [...recordRoutes(knowledge), ...questionRoutes(knowledge)];
}

function questionRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/evaluations/{eid}/questions",
      operationId: "listEvaluationQuestions",
      summary: "List the questions of an evaluation with their relevant documents",
      tag: "quality",
      auth: "caller",
      params: z.object({ eid }),
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Question) } },
      handler: async ({ caller, params: p, query }) => ok(await knowledge.evaluations.questions(caller, p.eid, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/evaluations/{eid}/runs/{run}/questions",
      operationId: "listEvaluationRunQuestions",
      summary: "List the result of each question in one of the last 20 runs",
      tag: "quality",
      auth: "caller",
      params: z.object({ eid, run: id.describe("Its job_id.") }),
      query: z.object(paging),
      answers: { 200: { description: "A page, in the order of the questions.", schema: pageOf(RunQuestion) } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.evaluations.runQuestions(caller, p.eid, p.run, query)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/evaluations/{eid}",
      operationId: "deleteEvaluation",
      summary: "Delete an evaluation with its questions and runs",
      tag: "quality",
      auth: "caller",
      params: z.object({ eid }),
      answers: { 204: { description: "It is gone." } },
      handler: async ({ caller, params: p }) => {
        await knowledge.evaluations.delete(caller, p.eid);
        return noContent();
      },
    }),
  ];
}

function recordRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/evaluations",
      operationId: "createEvaluation",
      summary: "Create an evaluation: questions with their relevant documents",
      tag: "quality",
      auth: "caller",
      idempotent: true,
      body: z.strictObject({
        name: z.string(),
        collections: z.array(z.strictObject({ repository: z.string(), collection: z.string() })),
        queries: z.array(
          z.strictObject({
            query: z.string(),
            relevant: z.array(z.strictObject({ document_id: z.string(), grade: z.number().optional() })),
          }),
        ),
        k: z.number().int().optional().describe("Metrics are computed over the first k documents; default 10."),
      }),
      answers: { 201: { description: "The evaluation.", schema: Evaluation } },
      handler: async ({ caller, body }) => created(await knowledge.evaluations.create(caller, body)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/evaluations",
      operationId: "listEvaluations",
      summary: "List the caller's evaluations; admins see all",
      tag: "quality",
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Evaluation) } },
      handler: async ({ caller, query }) => ok(await knowledge.evaluations.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/evaluations/{eid}",
      operationId: "getEvaluation",
      summary: "Get an evaluation with its last runs",
      tag: "quality",
      auth: "caller",
      params: z.object({ eid }),
      answers: { 200: { description: "The evaluation.", schema: Evaluation } },
      handler: async ({ caller, params: p }) => ok(await knowledge.evaluations.get(caller, p.eid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/evaluations/{eid}:run",
      operationId: "runEvaluation",
      summary: "Run an evaluation: nDCG, recall, MRR",
      tag: "quality",
      auth: "caller",
      params: z.object({ eid }),
      body: z
        .strictObject({
          mode: z.enum(searchModes).optional(),
          fusion: z.enum(fusions).optional(),
          vector_weight: z.number().optional(),
          diversity: z.number().optional(),
        })
        .optional(),
      answers: { 202: { description: "The job; its result has the metrics.", schema: Job } },
      handler: async ({ caller, params: p, body, signal }) => {
        const job = await knowledge.evaluations.run(caller, p.eid, body ?? {}, { signal });
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
  ];
}
