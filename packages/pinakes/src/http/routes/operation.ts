/** Queues and figures, for those who look after a workspace. */
import { z } from "zod";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, defineRoute, noContent, ok, queryInteger, type Route } from "../kit/index.ts";
import { id } from "./schemas.ts";

const q = id.describe("Name of the queue.");
const params = z.object({ q, dead: id.describe("Id of the dead letter.") });
const Dead = z
  .looseObject({
    dead_id: z.string(),
    document_id: z.string().optional().describe("Of the queue of documents."),
    message: z.json().optional().describe("Of a queue of the lifecycle: what was sent."),
    cause: z.string(),
    reason: z.string().nullable(),
  })
  .meta({ id: "DeadLetter" });
const Queue = z.looseObject({ name: z.string(), waiting: z.number(), in_progress: z.number(), failed: z.number(), dead: z.number() }).meta({ id: "Queue" });

export function operationRoutes(knowledge: Knowledge): readonly Route[] {
  return [...queueRoutes(knowledge), ...figureRoutes(knowledge)];
}

function queueRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/queues",
      operationId: "listQueues",
      summary: "Queues, as far as the workspace is in them: that of documents, and one for each store that takes part in deletes",
      tag: "operation",
      auth: "caller",
      answers: { 200: { description: "Each queue with its numbers.", schema: z.object({ items: z.array(Queue) }) } },
      handler: async ({ caller }) => ok({ items: await knowledge.queues(caller) }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/queues/{q}/dead",
      operationId: "listDeadLetters",
      summary: "What was given up, and why",
      tag: "operation",
      auth: "caller",
      params: z.object({ q }),
      answers: { 200: { description: "The workspace's own.", schema: z.object({ items: z.array(Dead) }) } },
      handler: async ({ caller, params: p }) => ok({ items: await knowledge.queue.dead(caller, p.q) }),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/queues/{q}/dead/{dead}:redrive",
      operationId: "redriveDeadLetter",
      summary: "Try it again",
      tag: "operation",
      auth: "caller",
      params,
      answers: { 202: { description: "It is back in the queue.", schema: z.object({ status: z.literal("queued") }) } },
      handler: async ({ caller, params: p }) => {
        await knowledge.queue.redrive(caller, p.q, p.dead);
        return accepted({ status: "queued" });
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/queues/{q}/dead/{dead}:discard",
      operationId: "discardDeadLetter",
      summary: "Forget it",
      tag: "operation",
      auth: "caller",
      params,
      answers: { 204: { description: "It is gone; what it was about stays as it is." } },
      handler: async ({ caller, params: p }) => {
        await knowledge.queue.discard(caller, p.q, p.dead);
        return noContent();
      },
    }),
  ];
}

function figureRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/stats",
      operationId: "getStats",
      summary: "What the workspace did over time",
      tag: "operation",
      auth: "caller",
      query: z.object({
        from: z.string().optional().describe("An hour before `to` when absent."),
        to: z.string().optional().describe("Now when absent."),
        step: queryInteger().optional().describe("Seconds, a multiple of 60; 60 when absent."),
      }),
      answers: {
        200: {
          description: "Searches, their milliseconds, uploads, their bytes, documents indexed and failed, by step.",
          schema: z.object({ points: z.array(z.looseObject({ at: z.string(), searches: z.number() })) }),
        },
      },
      handler: async ({ caller, query }) => ok({ points: await knowledge.activity.read(caller, query) }),
    }),
  ];
}
