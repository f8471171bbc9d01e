/** Threads and entities over HTTP: documents of any schema. */
import { sortOrders } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { jsonValue, pageOf, shape } from "../../contract/index.ts";
import type { State, Threads } from "../../state/index.ts";
import { created, defineRoute, noContent, ok, queryInteger, type Route } from "../framework/index.ts";

const threadId = z.string().min(1).max(512).describe("Id of the thread.");
const mid = z.string().min(1).max(1_023).describe("Id of the message.");
const agentId = z.string().min(1).max(255).describe("Id of the agent.");
const bodyBytesMax = 4_194_304;

const ThreadMessage = shape<wire.Stored<wire.ThreadMessage>>()(
  z
    .looseObject({
      id: z.string(),
      threadId: z.string(),
      sequence: jsonValue().optional().describe("Its number in the thread."),
      _etag: z.string(),
      _ts: z.number(),
    })
    .meta({ id: "ThreadMessage" }),
);
const AgentEntity = shape<wire.Stored<wire.AgentEntity>>()(
  z
    .looseObject({ id: z.string(), agentId: z.string(), _etag: z.string(), _ts: z.number() })
    .meta({ id: "AgentEntity" }),
);

export function threadRoutes({ threads, systemThreads, entities }: State): readonly Route[] {
  return [
    ...routesOf(threads, "/v1/threads", { name: "Thread", what: "a thread" }),
    ...routesOf(systemThreads, "/v1/system-threads", { name: "SystemThread", what: "a system thread" }),
    ...entityRoutes(entities),
  ];
}

interface Names {
  readonly name: string;
  readonly what: string;
}

function routesOf(threads: Threads, base: string, names: Names): readonly Route[] {
  return [...listRoutes(threads, base, names), ...oneRoutes(threads, base, names)];
}

function listRoutes(threads: Threads, base: string, { name, what }: Names): readonly Route[] {
  const common = {
    path: `${base}/{threadId}/messages`,
    tag: "threads",
    auth: "caller",
    params: z.object({ threadId }),
  } as const;
  return [
    defineRoute({
      ...common,
      method: "POST",
      operationId: `append${name}Messages`,
      summary: `Append a message to ${what}, or several with { messages: […] }`,
      description:
        "A message is any JSON object. Several are appended in order and atomically, at most 20; a body whose only property is a list `messages` (or `items`) means several. A message that repeats an id with the same content is not appended again.",
      idempotent: true,
      body: z.looseObject({}),
      limits: { bodyBytesMax },
      answers: {
        201: {
          description: "The message, or { items } if several were sent.",
          schema: z.union([ThreadMessage, z.object({ items: z.array(ThreadMessage) })]),
        },
      },
      handler: async ({ caller, params: p, body }) => {
        const several = body["messages"] ?? body["items"];
        if (Array.isArray(several) && Object.keys(body).length === 1)
          return created({ items: await threads.appendMany(caller, p.threadId, several as never) });
        const message = await threads.append(caller, p.threadId, body as never);
        return created(message, {
          etag: message._etag,
          location: `${base}/${encodeURIComponent(p.threadId)}/messages/${encodeURIComponent(message.id)}`,
        });
      },
    }),
    defineRoute({
      ...common,
      method: "GET",
      operationId: `list${name}Messages`,
      summary: `List the messages of ${what} in order`,
      query: z.object({
        order: z.enum(sortOrders).optional(),
        limit: queryInteger().optional().describe("Messages per page; default 100, maximum 1,000."),
        cursor: z.string().optional().describe("`next_cursor` of the previous page."),
      }),
      answers: { 200: { description: "A page.", schema: pageOf(ThreadMessage) } },
      handler: async ({ caller, params: p, query }) => ok(await threads.list(caller, p.threadId, query)),
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      operationId: `clear${name}`,
      summary: `Delete all messages of ${what}`,
      answers: {
        200: {
          description: "The number of deleted messages; 0 if repeated.",
          schema: z.object({ deleted: z.number() }),
        },
      },
      handler: async ({ caller, params: p }) => ok(await threads.clear(caller, p.threadId)),
    }),
  ];
}

function oneRoutes(threads: Threads, base: string, { name, what }: Names): readonly Route[] {
  const common = {
    path: `${base}/{threadId}/messages/{id}`,
    tag: "threads",
    auth: "caller",
    params: z.object({ threadId, id: mid }),
  } as const;
  return [
    defineRoute({
      ...common,
      method: "GET",
      operationId: `get${name}Message`,
      summary: `Get a message of ${what}`,
      answers: { 200: { description: "The message.", schema: ThreadMessage } },
      handler: async ({ caller, params: p }) => {
        const message = await threads.get(caller, p.threadId, p.id);
        return ok(message, { etag: message._etag });
      },
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      operationId: `delete${name}Message`,
      summary: `Delete a message of ${what}`,
      conditional: true,
      answers: { 204: { description: "The message was deleted." } },
      handler: async ({ caller, params: p, ifMatch }) => {
        await threads.deleteMessage(caller, p.threadId, p.id, { ifMatch });
        return noContent();
      },
    }),
  ];
}

function entityRoutes(entities: State["entities"]): readonly Route[] {
  const common = {
    path: "/v1/agent-entities/{agentId}",
    tag: "threads",
    auth: "caller",
    params: z.object({ agentId }),
  } as const;
  return [
    defineRoute({
      ...common,
      method: "GET",
      operationId: "getAgentEntity",
      summary: "Get the entity of an agent",
      answers: { 200: { description: "The entity.", schema: AgentEntity } },
      handler: async ({ caller, params: p }) => {
        const entity = await entities.get(caller, p.agentId);
        return ok(entity, { etag: entity._etag });
      },
    }),
    defineRoute({
      ...common,
      method: "PUT",
      operationId: "putAgentEntity",
      summary: "Replace the entity of an agent, with any schema",
      description: "Replaces the stored entity. If-None-Match: * only creates, If-Match only replaces that version.",
      conditional: true,
      body: z.looseObject({}),
      limits: { bodyBytesMax },
      answers: { 200: { description: "The entity after the change.", schema: AgentEntity } },
      handler: async ({ caller, params: p, body, ifMatch, ifNoneMatch, mustExist }) => {
        const must = ifNoneMatch === "*" ? "absent" : mustExist ? "present" : undefined;
        const entity = await entities.put(caller, p.agentId, body as never, { ifMatch, must });
        return ok(entity, { etag: entity._etag });
      },
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      operationId: "deleteAgentEntity",
      summary: "Delete the entity of an agent",
      conditional: true,
      answers: { 204: { description: "The entity was deleted." } },
      handler: async ({ caller, params: p, ifMatch }) => {
        await entities.delete(caller, p.agentId, { ifMatch });
        return noContent();
      },
    }),
  ];
}
