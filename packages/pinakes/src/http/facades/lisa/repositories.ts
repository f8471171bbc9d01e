/** Repositories: list, status, create, read, update and delete. */
import { z } from "zod";
import { PinakesError } from "../../../domain/errors.ts";
import { isJsonObject } from "../../../domain/json.ts";
import type { Caller } from "../../../domain/caller.ts";
import { knowledgeLimits, type Knowledge, type RepositoryView } from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { ok, type Route } from "../../framework/index.ts";
import { rid } from "./collections.ts";
import { lisaRoute } from "./lisa-route.ts";
import { changeRepository } from "./repository-change.ts";
import { createRepository } from "./repository-create.ts";
import {
  ownPipelines,
  RepositoryChange,
  RepositoryInput,
  RepositoryObject,
  repositoryObject,
  statusOf,
} from "./repository-object.ts";
import { ownSettings, pipelineView, type PipelineView } from "./settings.ts";

const Begun = z.object({
  status: z.literal("success"),
  executionArn: z.string(),
  warnings: z
    .array(z.string())
    .optional()
    .describe("Parts of the request that are stored and shown, but have no effect."),
});
const params = z.object({ rid });

export function repositoryRoutes(knowledge: Knowledge): readonly Route[] {
  return [...ofAll(knowledge), ...ofOne(knowledge)];
}

function ofAll(knowledge: Knowledge): readonly Route[] {
  return [
    lisaRoute({
      method: "GET",
      path: "/repository",
      operationId: "lisaListRepositories",
      summary: "List all repositories that the caller may use, newest first",
      answers: { 200: { description: "The repositories.", schema: z.array(RepositoryObject) } },
      handler: async ({ caller }) => {
        const repositories = await sharedRepositories(knowledge, caller);
        return ok(await Promise.all(repositories.map((repository) => shown(knowledge, caller, repository))));
      },
    }),
    lisaRoute({
      method: "GET",
      path: "/repository/status",
      operationId: "lisaRepositoryStatus",
      summary: "Get the status of each repository; admins only",
      answers: { 200: { description: "By repository.", schema: z.record(z.string(), z.string()) } },
      handler: async ({ caller }) => {
        if (caller.role !== "admin")
          throw new PinakesError("FORBIDDEN", "Only admins can see the status of repositories.");
        const repositories = await sharedRepositories(knowledge, caller);
        return ok(Object.fromEntries(repositories.map((one) => [one.repository_id, statusOf(one)])));
      },
    }),
    lisaRoute({
      method: "POST",
      path: "/repository",
      operationId: "lisaCreateRepository",
      summary: "Create a repository; admins only",
      // Older versions of the user interface wrap it.
      body: z.preprocess(
        (body) => (isJsonObject(body) && isJsonObject(body["ragConfig"]) ? body["ragConfig"] : body),
        RepositoryInput,
      ),
      answers: { 200: { description: "The repository was created.", schema: Begun } },
      handler: async ({ caller, body }) => {
        const warnings = await createRepository(knowledge, caller, body);
        return ok({
          status: "success",
          executionArn: executionArn("create", body.repositoryId),
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        });
      },
    }),
  ];
}

function ofOne(knowledge: Knowledge): readonly Route[] {
  const path = "/repository/{rid}";
  return [
    lisaRoute({
      method: "GET",
      path,
      operationId: "lisaGetRepository",
      summary: "A repository",
      params,
      answers: { 200: { description: "The repository.", schema: RepositoryObject } },
      handler: async ({ caller, params: { rid: id } }) =>
        ok(await shown(knowledge, caller, await knowledge.repositories.get(caller, id))),
    }),
    lisaRoute({
      method: "PUT",
      path,
      operationId: "lisaUpdateRepository",
      summary: "Change the fields that are present; null keeps a field. Admins only",
      params,
      body: RepositoryChange,
      answers: { 200: { description: "The repository.", schema: RepositoryObject } },
      handler: async ({ caller, params: { rid: id }, body }) => {
        const { repository, warnings, deployed } = await changeRepository(knowledge, caller, id, body);
        return ok({
          ...(await shown(knowledge, caller, repository)),
          ...(deployed ? { executionArn: executionArn("update", id) } : {}),
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        });
      },
    }),
    lisaRoute({
      method: "DELETE",
      path,
      operationId: "lisaDeleteRepository",
      summary: "Permanently delete a repository with all its collections; admins only",
      params,
      answers: { 200: { description: "It is being deleted.", schema: Begun } },
      handler: async ({ caller, params: { rid: id } }) => {
        const { job_id } = await knowledge.repositories.delete(caller, id, id);
        return ok({ status: "success", executionArn: executionArn("delete", job_id) });
      },
    }),
  ];
}

/** Personal repositories are not part of LISA. */
export async function sharedRepositories(
  knowledge: Pick<Knowledge, "repositories">,
  caller: Caller,
): Promise<readonly RepositoryView[]> {
  const all: RepositoryView[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await knowledge.repositories.list(caller, { limit: knowledgeLimits.pageItemsMax, cursor });
    all.push(...page.items.filter(({ personal }) => !personal));
    if (page.next_cursor === null) return all;
    cursor = page.next_cursor;
  }
}

/** Including its pipelines that still exist. */
async function shown(knowledge: Pick<Knowledge, "collections">, caller: Caller, repository: RepositoryView) {
  const { repository_id } = repository;
  const own = ownPipelines(ownSettings(repository.metadata));
  const views: z.output<typeof PipelineView>[] = [];
  for (const id of new Set(own.map(({ collectionId }) => collectionId))) {
    const collection = await ifMissing(knowledge.collections.get(caller, repository_id, id));
    for (const pipeline of collection?.pipelines ?? [])
      if (own.some(({ pipelineId }) => pipelineId === pipeline.pipeline_id))
        views.push(...[pipelineView(pipeline, id) ?? []].flat());
  }
  return repositoryObject(repository, views);
}

/** LISA runs a state machine and returns its execution id; Pinakes returns an id to search for. */
function executionArn(action: string, id: string): string {
  return `arn:pinakes:execution:${action}:${id}`;
}
