/** Operations on collections in all stores, over HTTP. */
import { operationStatuses } from "@pinakes/client";
import { z } from "zod";
import { pageOf } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, defineRoute, ok, type Route } from "../framework/index.ts";
import { id, Operation, paging } from "./schemas.ts";

const params = z.object({ oid: id.describe("Id of the operation, which is also the id of its job.") });

export function operationRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/operations",
      operationId: "listOperations",
      summary: "List operations on collections in all stores, newest first",
      description:
        "Operations of collections the caller may see, and the caller's own. A finished one can be read for 90 days.",
      tag: "jobs",
      auth: "caller",
      query: z.object({
        status: z.enum(operationStatuses).optional(),
        collection: z.string().optional().describe("On any incarnation of the collection with this id."),
        repository: z.string().optional().describe("`me` is the caller's own."),
        ...paging,
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Operation) } },
      handler: async ({ caller, query }) => ok(await knowledge.operations.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/operations/{oid}",
      operationId: "getOperation",
      summary: "Get an operation: per store what was deleted, what remains, duration, attempts and errors",
      tag: "jobs",
      auth: "caller",
      params,
      answers: { 200: { description: "The operation.", schema: Operation } },
      handler: async ({ caller, params: p }) => ok(await knowledge.operations.get(caller, p.oid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/operations/{oid}:retry",
      operationId: "retryOperation",
      summary: "Retry failed stores immediately",
      description: "For admins, and the user who started it.",
      tag: "jobs",
      auth: "caller",
      params,
      answers: { 202: { description: "The operation, running again.", schema: Operation } },
      handler: async ({ caller, params: p }) => accepted(await knowledge.operations.retry(caller, p.oid)),
    }),
  ];
}
