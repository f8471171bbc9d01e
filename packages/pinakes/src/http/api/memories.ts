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
        "Several are stored in their order, all or nothing, at most 20. What is left out is filled in; a parent must be there unless allow_dangling=true.",
      tag: "memories",
      auth: "caller",
      idempotent: true,
      params: z.object({ aid }),
      query: z.object({
        allow_dangling: queryFlag().optional().describe("Take a message whose parent is not there."),
        ttl_unit: z.enum(ttlUnits).optional().describe("The same as in the messages."),
      }),
      body: z.looseObject({ ...newMessage, messages: several, items: several }),
      limits: { bodyBytesMax },
      answers: {
        201: {
          description: "The message, or { items } where several were sent.",
          schema: z.union([Memory, z.object({ items: z.array(Memory) })]),
        },
      },
      handler: async ({ caller, params: p, query, body, header }) => {
        const { messages = body.items } = body;
        const ttlUnit = query.ttl_unit ?? body.ttl_unit;
        const key = header("idempotency-key");
        const options = {
          allowDangling: query.allow_dangling ?? false,
          ...(ttlUnit === undefined ? {} : { ttlUnit }),
          ...(key === undefined ? {} : { idempotencyKey: key }),
        };
        if (body.content === undefined && messages !== undefined)
          return created({ items: await memories.appendMany(caller, p.aid, messages as never, options) });
        const [memory] = await memories.appendMany(caller, p.aid, [body as never], options);
        invariant(memory !== undefined, "INTERNAL", "One message was appended, and none came back.");
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
      summary: "Messages of an agent",
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
        "Only what is named changes; metadata is changed property by property. With new content and no token_count the tokens are estimated anew.",
      conditional: true,
      body: z.strictObject({
        content: z.string().optional(),
        relevance_score: z.number().optional(),
        token_count: z.number().optional(),
        ttl: z.number().optional(),
        metadata: z.looseObject({}).optional(),
      }),
      limits: { bodyBytesMax },
      answers: { 200: { description: "The message as it is now.", schema: Memory } },
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
      answers: { 204: { description: "It is gone." } },
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
      summary: "A message with what it answers and what answers it",
      answers: {
        200: {
          description: "Ancestors from the first one on, and children.",
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
    summary: "The agents that have memories, in the order of their ids",
    description:
      "What has ended, and nobody sees any more, is passed over, so much of it for each answer: a page may be short and still have a cursor.",
    tag: "memories",
    auth: "caller",
    query: z.object({
      ...paging,
      limit: queryInteger().optional().describe("Agents on a page; 20 when absent, at most 100."),
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
      summary: "The sessions of an agent, in the order of their ids",
      tag: "memories",
      auth: "caller",
      params: z.object({ aid }),
      query: z.object({
        ...paging,
        limit: queryInteger().optional().describe("Sessions on a page; 20 when absent, at most 100."),
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Session) } },
      handler: async ({ caller, params: p, query, header }) =>
        ok(await memories.sessions(caller, p.aid, { ...query, ...shown(header) })),
    }),
    defineRoute({
      method: "GET",
      path,
      operationId: "getSession",
      summary: "A session, with the sum of its tokens",
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
        200: { description: "How many there were; 0 when it is repeated.", schema: z.object({ deleted: z.number() }) },
      },
      handler: async ({ caller, params: p }) => ok(await memories.deleteSession(caller, p.aid, p.sid)),
    }),
    defineRoute({
      method: "GET",
      path: `${path}/messages`,
      operationId: "listSessionMessages",
      summary: "The messages of a session in order",
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
      summary: "Copy a session, up to one of its messages, into a new one",
      description: "Repeating it completes a fork that was interrupted, and changes nothing where it is complete.",
      tag: "memories",
      auth: "caller",
      idempotent: true,
      params,
      body: z.strictObject({
        session_id: sid,
        up_to: mid.optional().describe("The last message that is copied; all when absent."),
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
      summary: "The messages of a session that fit into a number of tokens",
      description:
        "The system messages that open the session stay; then the newest without a gap, or the most relevant. A tool call and its results are all in or all out. In the order in which things were said.",
      tag: "memories",
      auth: "caller",
      params: z.object({ aid, sid }),
      query: z.object({
        max_tokens: queryInteger(),
        strategy: z.enum(contextStrategies).optional().describe("`recent` when absent."),
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
      summary: "Search messages by words, by meaning, or both",
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
          .describe("`hybrid` when absent; `keyword` where no embedding model is configured."),
        limit: z.number().int().optional().describe("Hits; 10 when absent, at most 100."),
      }),
      answers: {
        200: {
          description: "The best first; `incomplete` when not all messages are in the index yet.",
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
