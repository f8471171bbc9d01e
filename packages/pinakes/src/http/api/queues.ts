/** Queues and figures, for those who look after a workspace. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { jsonValue, shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import type { Pinakes } from "../../open.ts";
import { accepted, defineRoute, noContent, ok, queryInteger, type Route } from "../framework/index.ts";
import { id } from "./schemas.ts";

const q = id.describe("Name of the queue.");
const params = z.object({ q, dead: id.describe("Id of the dead letter.") });
const Dead = shape<wire.DeadLetter, "dead_at" | "failures">()(
  z
    .looseObject({
      dead_id: z.string(),
      document_id: z.string().optional().describe("Of the queue of documents."),
      message: jsonValue().optional().describe("Of a queue of the lifecycle or of the drop box: what was sent."),
      cause: z.string(),
      reason: z.string().nullable(),
    })
    .meta({ id: "DeadLetter" }),
);
const Queue = shape<wire.Queue>()(
  z
    .looseObject({
      name: z.string(),
      waiting: z.number(),
      in_progress: z.number(),
      failed: z.number(),
      dead: z.number().nullable().describe("Null where it cannot be known which dead letters are the workspace's own."),
      dead_unknown: z.string().optional().describe("Why `dead` is null."),
      oldest_age_seconds: z
        .number()
        .nullable()
        .describe(
          "Age of the oldest of what waits or is in progress; a document's since its upload, or since it was touched last where it is cut anew.",
        ),
    })
    .meta({ id: "Queue" }),
);
const DeletionLag = shape<wire.DeletionLag>()(
  z
    .object({
      unfinished: z.number().describe("Deletes that some store has not confirmed yet."),
      failed: z.number().describe("Those of them that some store has failed at again and again."),
      lag_seconds: z.number().describe("Age of the oldest; 0 where there is none."),
      limit_seconds: z.number().describe("The age at which it is warned of."),
      oldest: z
        .object({
          operation_id: z.string(),
          repository_id: z.string(),
          collection_id: z.string(),
          created_at: z.string(),
        })
        .nullable(),
      warning: z.string().nullable().describe("null: all is well."),
    })
    .meta({ id: "DeletionLag" }),
);

export function queueAndFigureRoutes(pinakes: Pick<Pinakes, "knowledge" | "deletionLagSecondsMax">): readonly Route[] {
  return [...queueRoutes(pinakes.knowledge), ...figureRoutes(pinakes.knowledge), lagRoute(pinakes)];
}

function lagRoute({ knowledge, deletionLagSecondsMax }: Pick<Pinakes, "knowledge" | "deletionLagSecondsMax">): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/operations:lag",
    operationId: "getDeletionLag",
    summary: "How far the workspace's deletes are behind, and whether that is too long",
    tag: "operation",
    auth: "caller",
    answers: { 200: { description: "The lag.", schema: DeletionLag } },
    handler: async ({ caller }) => ok(await knowledge.queue.lag(caller, deletionLagSecondsMax)),
  });
}

function queueRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/queues",
      operationId: "listQueues",
      summary:
        "Queues, as far as the workspace is in them: that of documents, one for each store that takes part in deletes, and that of its drop box",
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
