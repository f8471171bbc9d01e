/** Repositories over HTTP. */
import { z } from "zod";
import { pageOf } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, created, defineRoute, ok, queryFlag, type Route } from "../framework/index.ts";
import { chunkingInput, graphInput, groupsInput, Job, metadataInput, paging, Repository, rid } from "./schemas.ts";

const fields = {
  name: z.string().optional(),
  description: z.string().optional(),
  allowed_groups: groupsInput.optional(),
  allow_user_collections: z
    .boolean()
    .optional()
    .describe("Whether users who are not admins may create collections; default true."),
  auto_create: z
    .boolean()
    .optional()
    .describe("Whether a document for a missing collection creates it; default false."),
  create_on_query: z
    .boolean()
    .optional()
    .describe("Whether a query for a missing collection creates it; default false."),
  chunking_strategy: chunkingInput.optional(),
  graph: graphInput.optional(),
  metadata: metadataInput.optional(),
};

export function repositoryRoutes(knowledge: Knowledge): readonly Route[] {
  return [...listRoutes(knowledge), ...recordRoutes(knowledge)];
}

function listRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/repositories",
      operationId: "createRepository",
      summary: "Create a repository",
      tag: "repositories",
      auth: "caller",
      idempotent: true,
      body: z.strictObject({ repository_id: z.string().optional(), embedding_model: z.string().optional(), ...fields }),
      answers: { 201: { description: "The repository, with its default collection.", schema: Repository } },
      handler: async ({ caller, body }) => {
        const repository = await knowledge.repositories.create(caller, body);
        return created(repository, { etag: repository.etag, location: `/v1/repositories/${repository.repository_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/repositories",
      operationId: "listRepositories",
      summary: "List the repositories the caller may see, newest first",
      tag: "repositories",
      auth: "caller",
      query: z.object({
        include_total: queryFlag().optional().describe("Adds the total number over all pages."),
        ...paging,
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Repository) } },
      handler: async ({ caller, query }) => ok(await knowledge.repositories.list(caller, query)),
    }),
  ];
}

function recordRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/repositories/{rid}",
      operationId: "getRepository",
      summary: "A repository",
      tag: "repositories",
      auth: "caller",
      params: z.object({ rid }),
      answers: { 200: { description: "The repository.", schema: Repository } },
      handler: async ({ caller, params }) => {
        const repository = await knowledge.repositories.get(caller, params.rid);
        return ok(repository, { etag: repository.etag });
      },
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/repositories/{rid}",
      operationId: "updateRepository",
      summary: "Change a repository",
      tag: "repositories",
      auth: "caller",
      conditional: true,
      params: z.object({ rid }),
      body: z.looseObject(fields),
      answers: { 200: { description: "The repository after the change.", schema: Repository } },
      handler: async ({ caller, params, body, ifMatch }) => {
        const repository = await knowledge.repositories.update(caller, params.rid, body, ifMatch);
        return ok(repository, { etag: repository.etag });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/repositories/{rid}",
      operationId: "deleteRepository",
      summary: "Permanently delete a repository with all its collections",
      tag: "repositories",
      auth: "caller",
      conditional: true,
      params: z.object({ rid }),
      query: z.object({ confirm: z.string().optional().describe("The id of the repository.") }),
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, params, query, ifMatch }) => {
        const job = await knowledge.repositories.delete(caller, params.rid, query.confirm, ifMatch);
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
  ];
}
