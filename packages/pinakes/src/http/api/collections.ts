/** Collections over HTTP. */
import { collectionSorts, collectionStatuses, sortOrders, tagMatches } from "@pinakes/client";
import { z } from "zod";
import { jsonObject, pageOf } from "../../contract/index.ts";
import { knowledgeLimits, type Knowledge } from "../../knowledge/index.ts";
import { sessionsOf, sessionTokenHeader } from "../session-token.ts";
import { accepted, created, defineRoute, ok, queryFlag, queryInteger, type Route } from "../framework/index.ts";
import { newPipeline } from "./pipelines.ts";
import {
  accessInput,
  chunkingInput,
  cid,
  Collection,
  graphInput,
  groupsInput,
  Job,
  metadataInput,
  paging,
  rid,
} from "./schemas.ts";

const fields = {
  name: z
    .string()
    .nullable()
    .optional()
    .describe("Letters, digits, spaces, - and _; unique in the repository, case-insensitive. null: the id."),
  description: z.string().nullable().optional().describe("null: none."),
  chunking_strategy: chunkingInput.optional(),
  allow_chunking_override: z.boolean().optional(),
  graph: graphInput.optional(),
  metadata: metadataInput.nullable().optional().describe("Replaces all tags and fields; null removes them."),
  allowed_groups: groupsInput.optional(),
  access_rules: z
    .array(z.strictObject({ metadata: jsonObject(), ...accessInput }))
    .nullable()
    .optional()
    .describe(
      "Narrow the access of documents by their metadata: of those uploaded, or whose metadata or access changes, from then on. null: none.",
    ),
  private: z.boolean().optional().describe("Visible only to its creator and admins."),
};

const filters = {
  q: z.string().optional().describe("Substring of the name or description, case-insensitive."),
  tag: z.string().optional(),
  tags: z
    .array(z.string())
    .optional()
    .describe("Repeat for several: tags=a&tags=b. A tag without collections matches nothing."),
  tag_match: z.enum(tagMatches).optional().describe("any: one of the tags is enough; default: all."),
  status: z
    .enum([...collectionStatuses, "live", "all"])
    .optional()
    .describe(
      "Default ACTIVE. live: also ARCHIVED. DELETED: the trash, including former incarnations of an id that is in use again (`displaced`).",
    ),
  created_by: z.string().optional(),
  sort: z
    .enum(collectionSorts)
    .optional()
    .describe(
      "Default created_at. When sorting by last use, a collection that was never used counts as used at its creation.",
    ),
  order: z.enum(sortOrders).optional(),
  unused_since: z.string().optional().describe("Collections that were neither loaded nor queried since this time."),
  min_size_bytes: queryInteger({ min: 0 }).optional(),
  max_size_bytes: queryInteger({ min: 0 }).optional(),
  include_total: queryFlag().optional().describe("Adds the total number over all pages."),
  ...paging,
};

const incarnation = z.string().optional().describe("Which incarnation of the id, in the trash; default: the last one.");
const one = "/v1/repositories/{rid}/collections/{cid}";
const params = z.object({ rid, cid });
const answer = { 200: { description: "The collection after the change.", schema: Collection } };

export function collectionRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    ...listRoutes(knowledge),
    ...recordRoutes(knowledge),
    ...statusRoutes(knowledge),
    ...contentRoutes(knowledge),
  ];
}

function listRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/repositories/{rid}/collections",
      operationId: "createCollection",
      summary: "Create a collection",
      tag: "collections",
      auth: "caller",
      idempotent: true,
      params: z.object({ rid }),
      body: z.strictObject({
        collection_id: z.string().optional(),
        embedding_model: z.string().optional(),
        pipelines: z.array(newPipeline).max(knowledgeLimits.pipelinesMax).optional(),
        ...fields,
      }),
      answers: { 201: { description: "The collection.", schema: Collection } },
      handler: async ({ caller, params: { rid: repository }, body }) => {
        const collection = await knowledge.collections.create(caller, repository, body);
        const location = `/v1/repositories/${collection.repository_id}/collections/${collection.collection_id}`;
        return created(collection, { etag: collection.etag, location });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/repositories/{rid}/collections",
      operationId: "listCollections",
      summary: "List the collections of a repository that the caller may see",
      tag: "collections",
      auth: "caller",
      params: z.object({ rid }),
      query: z.object(filters),
      answers: { 200: { description: "A page.", schema: pageOf(Collection) } },
      handler: async ({ caller, params: { rid: repositoryId }, query, header }) =>
        ok(
          await knowledge.collections.list(caller, {
            ...query,
            repositoryId,
            session: sessionsOf(header(sessionTokenHeader), "collections"),
          }),
        ),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/collections",
      operationId: "listAllCollections",
      summary: "List the collections of all repositories that the caller may see, in one order",
      tag: "collections",
      auth: "caller",
      query: z.object(filters),
      answers: { 200: { description: "A page.", schema: pageOf(Collection) } },
      handler: async ({ caller, query, header }) =>
        ok(
          await knowledge.collections.list(caller, {
            ...query,
            session: sessionsOf(header(sessionTokenHeader), "collections"),
          }),
        ),
    }),
  ];
}

function recordRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: one,
      operationId: "getCollection",
      summary: "A collection",
      tag: "collections",
      auth: "caller",
      params,
      query: z.object({ deleted: queryFlag().optional().describe("Also returns a deleted collection."), incarnation }),
      answers: { 200: { description: "The collection.", schema: Collection } },
      handler: async ({ caller, params: p, query }) => {
        const collection = await knowledge.collections.get(caller, p.rid, p.cid, {
          deleted: query.deleted ?? false,
          incarnation: query.incarnation,
        });
        return ok(collection, { etag: collection.etag });
      },
    }),
    defineRoute({
      method: "PATCH",
      path: one,
      operationId: "updateCollection",
      summary: "Change a collection",
      description:
        "Immutable fields (ids, embedding_model, created_by, created_at) may be repeated with their current values.",
      tag: "collections",
      auth: "caller",
      conditional: true,
      params,
      body: z.looseObject(fields),
      answers: { 200: { description: "The collection after the change, with warnings.", schema: Collection } },
      handler: async ({ caller, params: p, body, ifMatch }) => {
        const collection = await knowledge.collections.update(caller, p.rid, p.cid, body, ifMatch);
        return ok(collection, { etag: collection.etag });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: one,
      operationId: "deleteCollection",
      summary: "Delete a collection",
      description:
        "The collection becomes unreadable immediately. It can be restored for `trash_days` of GET /v1/info (90). With purge=true everything is removed now, which needs the permission `purge`. If `trash_days` is 0, every delete removes everything now and needs `confirm`. The job of a purge is also an operation: GET /v1/operations/{id} reports the progress of each store.",
      tag: "collections",
      auth: "caller",
      conditional: true,
      params,
      query: z.object({
        confirm: z
          .string()
          .optional()
          .describe("The id of the collection; required for a purge, and if there is no trash."),
        purge: queryFlag().optional(),
        incarnation,
        allow_partial: queryFlag()
          .optional()
          .describe("Continue even if a store cannot delete; the result then says `partial`."),
      }),
      answers: {
        202: { description: "The job: a soft delete has already succeeded, a purge is running.", schema: Job },
      },
      errors: {
        409: {
          description:
            "A store cannot delete (store_cannot_delete), and nothing was changed; or a migration holds the collection.",
        },
      },
      handler: async ({ caller, params: p, query, ifMatch }) => {
        const job = await knowledge.collections.delete(caller, p.rid, p.cid, { ...query, ifMatch });
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
  ];
}

function statusRoutes(knowledge: Knowledge): readonly Route[] {
  const verb = (name: string, summary: string, run: Knowledge["collections"]["archive"]): Route =>
    defineRoute({
      method: "POST",
      path: `${one}:${name}`,
      operationId: `${name}Collection`,
      summary,
      tag: "collections",
      auth: "caller",
      conditional: true,
      params,
      answers: answer,
      handler: async ({ caller, params: p, ifMatch }) => {
        const collection = await run(caller, p.rid, p.cid, ifMatch);
        return ok(collection, { etag: collection.etag });
      },
    });
  return [
    verb("archive", "Archive a collection: it stays readable and becomes read-only", (...args) =>
      knowledge.collections.archive(...args),
    ),
    verb("unarchive", "Unarchive a collection", (...args) => knowledge.collections.unarchive(...args)),
    defineRoute({
      method: "POST",
      path: `${one}:restore`,
      operationId: "restoreCollection",
      summary: "Restore a deleted collection exactly as it was",
      description:
        "Restores the incarnation that was deleted last, or the specified one. 409 if its id or name is in use.",
      tag: "collections",
      auth: "caller",
      params,
      query: z.object({ incarnation }),
      body: z.strictObject({ incarnation: z.string().optional() }).optional(),
      answers: answer,
      errors: { 410: { description: "The retention period is over: the collection is being purged, or is purged." } },
      handler: async ({ caller, params: p, query, body }) => {
        const collection = await knowledge.collections.restore(caller, p.rid, p.cid, {
          incarnation: body?.incarnation ?? query.incarnation,
        });
        return ok(collection, { etag: collection.etag });
      },
    }),
  ];
}

function contentRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${one}:reindex`,
      operationId: "reindexCollection",
      summary: "Chunk and embed all documents again; the old chunks answer until the new ones are ready",
      tag: "collections",
      auth: "caller",
      params,
      body: z
        .strictObject({ embedding_model: z.string().optional().describe("A different embedding model.") })
        .optional(),
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, params: p, body }) => {
        const job = await knowledge.collections.reindex(caller, p.rid, p.cid, body ?? {});
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: `${one}/usage`,
      operationId: "getCollectionUsage",
      summary: "Usage of a collection: its counters and a recount",
      tag: "collections",
      auth: "caller",
      params,
      answers: {
        200: {
          description: "The counters and a recount.",
          schema: z.looseObject({
            document_count: z.number(),
            triples: z.number(),
            stores: z.record(z.string(), z.number()),
            consistent: z.boolean(),
          }),
        },
      },
      handler: async ({ caller, params: p }) => ok(await knowledge.collections.usage(caller, p.rid, p.cid)),
    }),
  ];
}
