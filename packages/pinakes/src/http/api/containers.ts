/** Containers over HTTP: their definitions, queries and changes. Their items: container-items.ts. */
import { setTimeout as sleep } from "node:timers/promises";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import {
  changeKinds,
  changesModes,
  changesStarts,
  containerKinds,
  indexStates,
  queryAccesses,
  sortOrders,
  type ChangesPage,
  type ContainerSpec,
  type IndexQuery,
  type SqlQuery,
} from "@pinakes/client";
import type { Identity } from "../../identity/index.ts";
import type { State } from "../../state/index.ts";
import { defineRoute, noContent, ok, queryInteger, sse, type Route, type ServerEvent } from "../framework/index.ts";
import { sessionsOf, sessionTokenHeader } from "../session-token.ts";
import { containerName, pkInput, pkValue } from "./container-input.ts";
import { containerItemRoutes, createOnly, Item } from "./container-items.ts";
import { credentialsOf } from "./jobs.ts";

const one = "/v1/containers/{c}";
const params = z.object({ c: containerName });
const common = { tag: "containers", auth: "caller" } as const;
const pollMs = 1_000;
const adviceCharsMax = 2_000;

const path = z.string();
const index = z.object({
  partition: z.array(path),
  sort: z.array(z.union([path, z.object({ path, order: z.enum(sortOrders) })])),
});
const policy = z.looseObject({}).describe("In Cosmos DB's format: includedPaths, excludedPaths, compositeIndexes.");

const Spec = z.strictObject({
  partition_key: z
    .union([z.string(), z.array(z.string())])
    .describe('"/user_id", or up to three paths; never changes.'),
  indexes: z.record(z.string(), index).optional(),
  indexing_policy: policy.nullable().optional(),
  unique_keys: z.record(z.string(), z.array(path)).optional().describe("Unique within a partition; immutable."),
  default_ttl: z
    .number()
    .nullable()
    .optional()
    .describe("Seconds; null: off; -1: only documents with a ttl of their own expire."),
  strict: z.boolean().optional().describe("Reject queries that no index serves."),
  optional_key: z
    .boolean()
    .optional()
    .describe("Documents may have null or no value in the partition key, addressed as {}; immutable."),
});

const Container = shape<wire.ContainerInfo>()(
  z
    .looseObject({
      name: z.string(),
      kind: z.enum(containerKinds),
      partition_key: z.union([z.string(), z.array(z.string())]),
      indexes: z.record(z.string(), index),
      indexing_policy: policy.nullable(),
      normalised_policy: policy.nullable(),
      unique_keys: z.record(z.string(), z.array(path)),
      default_ttl: z.number().nullable(),
      strict: z.boolean(),
      optional_key: z.boolean(),
      append_only: z.boolean(),
      etag: z.string(),
      advice: z.string().optional().describe("Parts of the policy for which no index was created."),
    })
    .meta({ id: "Container" }),
);

const IndexStatus = shape<wire.IndexState>()(
  index
    .extend({
      name: z.string(),
      state: z.enum(indexStates),
      progress: z.number(),
      error: z.string().optional(),
    })
    .meta({ id: "IndexStatus" }),
);

const queryBody = z.strictObject({
  query: z.string().optional().describe("SELECT * FROM c WHERE c.status = @status"),
  parameters: z.array(z.looseObject({ name: z.string() })).optional(),
  pk: pkInput.optional().describe("Only this partition."),
  strict: z.boolean().optional(),
  index: z.string().optional().describe("Instead of SQL: an index; default: the items of one partition by id."),
  equals: z.looseObject({}).optional().describe("Values of the leading paths of the index."),
  range: z.looseObject({}).optional().describe("gt, gte, lt, lte or prefix on the next path."),
  order: z.enum(sortOrders).optional(),
  filter: z.looseObject({}).optional(),
  limit: z.number().optional(),
  cursor: z.string().nullable().optional(),
});

const Change = shape<wire.ContainerChange>()(
  z
    .object({
      kind: z.enum(changeKinds),
      id: z.string(),
      pk: z.array(pkValue),
      etag: z.string(),
      at: z.string(),
      time_to_live_expired: z.literal(true).optional(),
      document: Item.optional(),
    })
    .meta({ id: "ContainerChange" }),
);

export function containerRoutes(state: State, identity: Identity): readonly Route[] {
  return [
    ...definitionRoutes(state),
    ...containerItemRoutes(state),
    ...queryRoutes(state),
    changesRoute(state, identity),
  ];
}

function definitionRoutes({ containers }: State): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: "GET",
      path: "/v1/containers",
      operationId: "listContainers",
      summary: "List all containers: the system's and the workspace's",
      answers: { 200: { description: "The containers.", schema: z.object({ items: z.array(Container) }) } },
      handler: async ({ caller }) => ok(await containers.list(caller)),
    }),
    defineRoute({
      ...common,
      method: "PUT",
      path: one,
      operationId: "putContainer",
      summary: "Create a container, or change its indexes and time to live",
      description:
        "Repeating the same definition changes nothing. Changing a container needs an admin; partition key and unique keys are immutable. With If-None-Match: * it is only created: 412 if it exists.",
      conditional: true,
      params,
      body: Spec,
      answers: { 200: { description: "The container.", schema: Container } },
      handler: async ({ caller, params: p, body, ifMatch, ifNoneMatch }) => {
        const only = createOnly(ifNoneMatch) ? ({ ifNoneMatch: "*" } as const) : {};
        const info = await containers.put(caller, p.c, body as unknown as ContainerSpec, { ifMatch, ...only });
        return ok(info, { etag: info.etag });
      },
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: one,
      operationId: "getContainer",
      summary: "A container",
      params,
      answers: {
        200: { description: "The container.", schema: Container },
        304: { description: "Not modified." },
      },
      handler: async ({ caller, params: p }) => {
        const info = await containers.get(caller, p.c);
        return ok(info, { etag: info.etag });
      },
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      path: one,
      operationId: "deleteContainer",
      summary: "Delete a container of the workspace and its items",
      description: "Unreadable immediately; its items are removed in the background. Needs an admin.",
      params,
      answers: { 204: { description: "It is gone." } },
      handler: async ({ caller, params: p }) => {
        await containers.delete(caller, p.c);
        return noContent();
      },
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: `${one}/indexes`,
      operationId: "listContainerIndexes",
      summary: "The indexes of a container: ready, or the progress of their build",
      params,
      answers: { 200: { description: "The indexes.", schema: z.object({ items: z.array(IndexStatus) }) } },
      handler: async ({ caller, params: p }) => ok(await containers.indexes(caller, p.c)),
    }),
  ];
}

function queryRoutes({ containers }: State): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: "POST",
      path: `${one}/query`,
      operationId: "queryContainer",
      summary: "Query a container, in SQL or by an index",
      description: "X-Index-Advice suggests an index that would make the query faster.",
      readOnlyOk: true,
      params,
      body: queryBody,
      answers: {
        200: {
          description: "A page.",
          schema: z.object({
            items: z.array(z.unknown()),
            next_cursor: z.string().nullable(),
            advice: z.string().optional(),
          }),
        },
      },
      handler: async ({ caller, params: p, body, header }) => {
        const page = await containers.query(caller, p.c, queryOf(body), (container) =>
          sessionsOf(header(sessionTokenHeader), container),
        );
        return ok(page, adviceHeader(page.advice));
      },
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: `${one}/query:explain`,
      operationId: "explainContainerQuery",
      summary: "Explain how a query would be executed",
      readOnlyOk: true,
      params,
      body: queryBody,
      answers: {
        200: {
          description: "The plan.",
          schema: z.object({
            access: z.enum(queryAccesses),
            index: z.string().nullable(),
            order_served: z.boolean(),
            evaluated: z.array(z.string()),
            advice: z.string().nullable(),
          }),
        },
      },
      handler: async ({ caller, params: p, body }) => {
        const plan = await containers.explain(caller, p.c, queryOf(body));
        return ok(plan, adviceHeader(plan.advice ?? undefined));
      },
    }),
  ];
}

function queryOf(body: z.output<typeof queryBody>): IndexQuery | SqlQuery {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
  return given as unknown as IndexQuery | SqlQuery;
}

/** Header values are limited to Latin-1. */
function adviceHeader(advice: string | undefined): { readonly headers?: Readonly<Record<string, string>> } {
  if (advice === undefined) return {};
  return { headers: { "x-index-advice": advice.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, adviceCharsMax) } };
}

function changesRoute({ containers }: State, identity: Identity): Route {
  return defineRoute({
    ...common,
    method: "GET",
    path: `${one}/changes`,
    operationId: "containerChanges",
    summary: "Read the change feed of a container: a page, or a stream of events",
    description:
      "With Accept: text/event-stream the changes come as server-sent events; Last-Event-ID resumes after that event, and the last events may be repeated. `mode=all` includes deletes.",
    params,
    query: z.object({
      cursor: z.string().optional(),
      limit: queryInteger().optional(),
      from: z.enum(changesStarts).optional().describe("Where to start without a cursor; default: oldest."),
      mode: z.enum(changesModes).optional(),
    }),
    answers: {
      200: {
        description: "A page.",
        schema: z.object({ items: z.array(Change), cursor: z.string(), more: z.boolean() }),
      },
    },
    handler: async (request) => {
      const { caller, query, header } = request;
      const next = (cursor: string | undefined): Promise<ChangesPage> =>
        containers.changes(caller, request.params.c, { ...query, cursor });
      if (header("accept")?.includes("text/event-stream") !== true) return ok(await next(query.cursor));
      // Validated before the stream begins, so an invalid request gets an error status.
      const first = await next(header("last-event-id") || query.cursor);
      return sse(request, (_lastEventId, signal) =>
        follow(first, next, signal, async () => void (await identity.authenticate(credentialsOf(request)))),
      );
    },
  });
}

/** A stream may outlive the key or session that opened it: nothing is sent after the credential ends. */
async function* follow(
  first: ChangesPage,
  next: (cursor: string) => Promise<ChangesPage>,
  signal: AbortSignal,
  stillAllowed: () => Promise<void>,
): AsyncGenerator<ServerEvent> {
  for (let page = first; !signal.aborted; page = await next(page.cursor)) {
    if (page.items.length > 0) await stillAllowed();
    const last = page.items.at(-1);
    for (const change of page.items)
      yield { event: change.kind, data: change, ...(change === last ? { id: page.cursor } : {}) };
    if (!page.more) await sleep(pollMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
}
