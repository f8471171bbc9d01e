/** Memories and sessions over HTTP. */
import { contextStrategies, memorySearchModes, ttlUnits } from "@pinakes/client";
import { z } from "zod";
import { invariant } from "../../domain/invariant.ts";
import { pageOf } from "../../contract/index.ts";
import type { State } from "../../state/index.ts";
import { created, defineRoute, noContent, ok, queryFlag, queryInteger, type Route } from "../framework/index.ts";
import {
  aid,
  sid,
  mid,
  bodyBytesMax,
  Memory,
  Agent,
  Session,
  newMessage,
  several,
  paging,
  inSession,
  shown,
} from "./memory-schemas.ts";

export function memoryRoutes(state: State): readonly Route[] {
  return [
    agentRoute(state),
    ...messageRoutes(state),
    ...oneRoutes(state),
    ...sessionRoutes(state),
    ...recallRoutes(state),
  ];
}

function messageRoutes({ memories }: State): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/agents/{aid}/memories",
      operationId: "appendMemories",
      summary: "Append a message, or several with { messages: […] }",
      description:
        "Several messages are stored in order and atomically, at most 20. Missing fields get defaults; a parent must exist unless allow_dangling=true.",
      tag: "memories",
      auth: "caller",
      idempotent: true,
      params: z.object({ aid }),
      query: z.object({
        allow_dangling: queryFlag().optional().describe("Accept a message whose parent does not exist."),
        ttl_unit: z.enum(ttlUnits).optional().describe("The same as in the messages."),
      }),
      body: z.looseObject({ ...newMessage, messages: several, items: several }),
      limits: { bodyBytesMax },
      answers: {
        201: {
          description: "The message, or { items } if several were sent.",
          schema: z.union([Memory, z.object({ items: z.array(Memory) })]),
        },
      },
      handler: async ({ caller, params: p, query, body, header }) => {
        const { messages = body.items } = body;
        const ttlUnit = query.ttl_unit ?? body.ttl_unit;
        const key = header("idempotency-key");
        const options = {
          allowDangling: query.allow_dangling ?? false,
          ttlUnit,
          idempotencyKey: key,
        };
        if (body.content === undefined && messages !== undefined)
          return created({ items: await memories.appendMany(caller, p.aid, messages as never, options) });
        const [memory] = await memories.appendMany(caller, p.aid, [body as never], options);
        invariant(memory !== undefined, "INTERNAL", "One message was appended, but none was returned.");
        return created(memory, {
          etag: memory._etag,
          location: `/v1/agents/${encodeURIComponent(p.aid)}/memories/${encodeURIComponent(memory.id)}`,
        });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/agents/{aid}/memories",
      operationId: "listMemories",
      summary: "List the messages of an agent",
      tag: "memories",
      auth: "caller",
      params: z.object({ aid }),
      query: z.object({ session_id: sid.optional(), ...inSession }),
      answers: { 200: { description: "A page.", schema: pageOf(Memory) } },
      handler: async ({ caller, params: p, query, header }) =>
        ok(await memories.list(caller, p.aid, { ...query, ...shown(header) })),
    }),
  ];
}

function oneRoutes({ memories }: State): readonly Route[] {
  const path = "/v1/agents/{aid}/memories/{id}";
  const params = z.object({ aid, id: mid });
  const common = { tag: "memories", auth: "caller", params } as const;
  return [
    defineRoute({
      ...common,
      method: "GET",
      path,
      operationId: "getMemory",
      summary: "A message",
      answers: { 200: { description: "The message.", schema: Memory } },
      handler: async ({ caller, params: p }) => {
        const memory = await memories.get(caller, p.aid, p.id);
        return ok(memory, { etag: memory._etag });
      },
    }),
    defineRoute({
      ...common,
      method: "PATCH",
      path,
      operationId: "changeMemory",
      summary: "Change a message",
      description:
        "Only the given properties change; metadata is merged property by property. New content without token_count is counted again.",
      conditional: true,
      body: z.strictObject({
        content: z.string().optional(),
        relevance_score: z.number().optional(),
        token_count: z.number().optional(),
        ttl: z.number().optional(),
        metadata: z.looseObject({}).optional(),
      }),
      limits: { bodyBytesMax },
      answers: { 200: { description: "The message after the change.", schema: Memory } },
      handler: async ({ caller, params: p, body, ifMatch }) => {
        const memory = await memories.patch(caller, p.aid, p.id, body as never, { ifMatch });
        return ok(memory, { etag: memory._etag });
      },
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      path,
      operationId: "deleteMemory",
      summary: "Delete a message",
      conditional: true,
      answers: { 204: { description: "The message was deleted." } },
      handler: async ({ caller, params: p, ifMatch }) => {
        await memories.delete(caller, p.aid, p.id, { ifMatch });
        return noContent();
      },
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: `${path}/thread`,
      operationId: "getMemoryThread",
      summary: "Get a message with its ancestors and replies",
      answers: {
        200: {
          description: "Ancestors from the root, and children.",
          schema: z.object({ ancestors: z.array(Memory), message: Memory, children: z.array(Memory) }),
        },
      },
      handler: async ({ caller, params: p }) => ok(await memories.thread(caller, p.aid, p.id)),
    }),
  ];
}

function agentRoute({ memories }: State): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/agents",
    operationId: "listAgents",
    summary: "List the agents that have memories, ordered by id",
    description:
      "Expired agents are skipped, a bounded number per request: a page may be short and still have a cursor.",
    tag: "memories",
    auth: "caller",
    query: z.object({
      ...paging,
      limit: queryInteger().optional().describe("Agents per page; default 20, maximum 100."),
    }),
    answers: { 200: { description: "A page.", schema: pageOf(Agent) } },
    handler: async ({ caller, query, header }) => ok(await memories.agents(caller, { ...query, ...shown(header) })),
  });
}

function sessionRoutes({ memories }: State): readonly Route[] {
  const path = "/v1/agents/{aid}/sessions/{sid}";
  const params = z.object({ aid, sid });
  return [
    defineRoute({
      method: "GET",
      path: "/v1/agents/{aid}/sessions",
      operationId: "listSessions",
      summary: "List the sessions of an agent, ordered by id",
      tag: "memories",
      auth: "caller",
      params: z.object({ aid }),
      query: z.object({
        ...paging,
        limit: queryInteger().optional().describe("Sessions per page; default 20, maximum 100."),
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Session) } },
      handler: async ({ caller, params: p, query, header }) =>
        ok(await memories.sessions(caller, p.aid, { ...query, ...shown(header) })),
    }),
    defineRoute({
      method: "GET",
      path,
      operationId: "getSession",
      summary: "Get a session with its total token count",
      tag: "memories",
      auth: "caller",
      params,
      answers: { 200: { description: "The session.", schema: Session } },
      handler: async ({ caller, params: p }) => ok(await memories.session(caller, p.aid, p.sid)),
    }),
    defineRoute({
      method: "DELETE",
      path,
      operationId: "deleteSession",
      summary: "Delete all messages of a session",
      tag: "memories",
      auth: "caller",
      params,
      answers: {
        200: {
          description: "The number of deleted messages; 0 if repeated.",
          schema: z.object({ deleted: z.number() }),
        },
      },
      handler: async ({ caller, params: p }) => ok(await memories.deleteSession(caller, p.aid, p.sid)),
    }),
    defineRoute({
      method: "GET",
      path: `${path}/messages`,
      operationId: "listSessionMessages",
      summary: "List the messages of a session in order",
      tag: "memories",
      auth: "caller",
      params,
      query: z.object(inSession),
      answers: { 200: { description: "A page.", schema: pageOf(Memory) } },
      handler: async ({ caller, params: p, query, header }) =>
        ok(await memories.list(caller, p.aid, { ...query, session_id: p.sid, ...shown(header) })),
    }),
    defineRoute({
      method: "POST",
      path: `${path}:fork`,
      operationId: "forkSession",
      summary: "Copy a session, up to a given message, into a new one",
      description: "Repeating the request completes an interrupted fork, and changes nothing if it is complete.",
      tag: "memories",
      auth: "caller",
      idempotent: true,
      params,
      body: z.strictObject({
        session_id: sid,
        up_to: mid.optional().describe("The last message to copy; default: all."),
      }),
      answers: { 201: { description: "The new session.", schema: Session } },
      handler: async ({ caller, params: p, body }) =>
        created(await memories.fork(caller, p.aid, p.sid, { session_id: body.session_id, upTo: body.up_to }), {
          location: `/v1/agents/${encodeURIComponent(p.aid)}/sessions/${encodeURIComponent(body.session_id)}`,
        }),
    }),
  ];
}

function recallRoutes({ memories }: State): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/agents/{aid}/sessions/{sid}/context",
      operationId: "getContext",
      summary: "Get the messages of a session that fit a token budget",
      description:
        "System messages at the start of the session are kept; then the newest without a gap, or the most relevant. A tool call and its results are included or omitted together. In chronological order.",
      tag: "memories",
      auth: "caller",
      params: z.object({ aid, sid }),
      query: z.object({
        max_tokens: queryInteger(),
        strategy: z.enum(contextStrategies).optional().describe("Default `recent`."),
      }),
      answers: {
        200: {
          description: "The window.",
          schema: z.object({ messages: z.array(Memory), token_count: z.number(), omitted: z.number() }),
        },
      },
      handler: async ({ caller, params: p, query, header }) =>
        ok(
          await memories.context(caller, {
            agent_id: p.aid,
            session_id: p.sid,
            maxTokens: query.max_tokens,
            strategy: query.strategy,
            ...shown(header),
          }),
        ),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/memories:search",
      operationId: "searchMemories",
      summary: "Search messages by keyword, vector, or both",
      tag: "memories",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({
        query: z.string(),
        agent_id: z.string().optional(),
        session_id: z.string().optional(),
        mode: z
          .enum(memorySearchModes)
          .optional()
          .describe("Default `hybrid`; `keyword` if no embedding model is configured."),
        limit: z.number().int().optional().describe("Maximum number of hits; default 10, maximum 100."),
      }),
      answers: {
        200: {
          description: "Best first; `incomplete` if some messages are not indexed yet.",
          schema: z.object({
            hits: z.array(z.object({ memory: Memory, score: z.number() })),
            mode_used: z.enum(memorySearchModes),
            incomplete: z.literal(true).optional(),
          }),
        },
      },
      handler: async ({ caller, body }) => ok(await memories.search(caller, body)),
    }),
  ];
}
