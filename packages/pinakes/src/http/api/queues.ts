/** Queues and usage, for operators of a workspace. */
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
      document_id: z.string().optional().describe("In the queue of documents."),
      message: jsonValue().optional().describe("The message, in a queue of the lifecycle or the drop box."),
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
      dead: z.number().nullable().describe("Null if the dead letters of the workspace cannot be counted."),
      dead_unknown: z.string().optional().describe("Why `dead` is null."),
      oldest_age_seconds: z
        .number()
        .nullable()
        .describe(
          "Age of the oldest waiting or running entry; for a document since its upload, or since its last heartbeat if it is being chunked again.",
        ),
    })
    .meta({ id: "Queue" }),
);
const DeletionLag = shape<wire.DeletionLag>()(
  z
    .object({
      unfinished: z.number().describe("Deletes that some store has not confirmed yet."),
      failed: z.number().describe("Deletes that some store failed repeatedly."),
      lag_seconds: z.number().describe("Age of the oldest one; 0 if there is none."),
      limit_seconds: z.number().describe("The age at which the alarm fires."),
      oldest: z
        .object({
          operation_id: z.string(),
          repository_id: z.string(),
          collection_id: z.string(),
          created_at: z.string(),
        })
        .nullable(),
      warning: z.string().nullable().describe("null: no alarm fires."),
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
    summary: "The deletion lag of the workspace, and whether its alarm fires",
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
      summary: "List the queues of the workspace: documents, one per participant store, and the drop box",
      tag: "operation",
      auth: "caller",
      answers: { 200: { description: "Each queue with its counters.", schema: z.object({ items: z.array(Queue) }) } },
      handler: async ({ caller }) => ok({ items: await knowledge.queues(caller) }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/queues/{q}/dead",
      operationId: "listDeadLetters",
      summary: "List dead letters with their reasons",
      tag: "operation",
      auth: "caller",
      params: z.object({ q }),
      answers: {
        200: { description: "The dead letters of the workspace.", schema: z.object({ items: z.array(Dead) }) },
      },
      handler: async ({ caller, params: p }) => ok({ items: await knowledge.queue.dead(caller, p.q) }),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/queues/{q}/dead/{dead}:redrive",
      operationId: "redriveDeadLetter",
      summary: "Redrive a dead letter",
      tag: "operation",
      auth: "caller",
      params,
      answers: {
        202: { description: "The message is queued again.", schema: z.object({ status: z.literal("queued") }) },
      },
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
      answers: { 204: { description: "The dead letter is removed; the resource it names is unchanged." } },
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
      summary: "Activity of the workspace over time",
      tag: "operation",
      auth: "caller",
      query: z.object({
        from: z.string().optional().describe("Default: an hour before `to`."),
        to: z.string().optional().describe("Default: now."),
        step: queryInteger().optional().describe("Seconds, a multiple of 60; default 60."),
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
