/** Memories: what agents and people said, by agent and session. */
import { contextStrategies, memorySearchModes, messageTypes, type NewMemory } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import { adds, defineTool, reads, type McpTool } from "../tool.ts";
import { agentId, document, nextCursor, paging, sessionId } from "./fields.ts";

const memory = document({
  id: z.string(),
  agent_id: z.string(),
  session_id: z.string(),
  message_type: z.enum(messageTypes),
  content: z.string(),
  timestamp: z.string(),
});
const contentCharsMax = 1_000_000;
const tokensMax = 1_000_000;

export const memoryTools: readonly McpTool[] = [
  defineTool({
    name: "memory_append",
    title: "Remember a message",
    description: "Appends one message to a session of an agent.",
    input: z.strictObject({
      agent_id: agentId,
      session_id: sessionId,
      message_type: z.enum(messageTypes),
      content: z.string().max(contentCharsMax),
      parent_message_id: z.string().max(1_024).nullable().optional(),
      metadata: jsonObject().optional(),
      idempotency_key: z.string().min(1).max(255).optional().describe("Repeating the call appends nothing new."),
    }),
    output: z.object({ memory }),
    annotations: adds,
    run: async ({ state }, { idempotency_key, ...input }) => ({
      structured: {
        memory: await state.memories.append(input as NewMemory, { idempotencyKey: idempotency_key }),
      },
    }),
  }),
  defineTool({
    name: "memory_recall",
    title: "Recall a session",
    description:
      "The messages of a session that fit a token budget, in order: the most recent ones, or the most relevant.",
    input: z.strictObject({
      agent_id: agentId,
      session_id: sessionId,
      max_tokens: z.number().int().min(1).max(tokensMax),
      strategy: z.enum(contextStrategies).optional().describe("recent when absent."),
    }),
    output: z.object({
      messages: z.array(memory),
      token_count: z.number(),
      omitted: z.number().describe("Messages of the session that did not fit."),
    }),
    annotations: reads,
    run: async ({ state }, { agent_id, session_id, max_tokens, strategy }) => ({
      structured: await state.memories.context({ agent_id, session_id, maxTokens: max_tokens, strategy }),
    }),
  }),
  defineTool({
    name: "memory_search",
    title: "Search memories",
    description: "Messages that match a query, best first: of all agents, of one agent, or of one session.",
    input: z.strictObject({
      query: z.string().min(1).max(10_000),
      agent_id: agentId.optional(),
      session_id: sessionId.optional(),
      mode: z.enum(memorySearchModes).optional(),
      limit: paging.limit,
    }),
    output: z.object({
      hits: z.array(z.object({ memory, score: z.number() })),
      mode_used: z.enum(memorySearchModes),
      incomplete: z.literal(true).optional().describe("The index is still being built; search again for all hits."),
    }),
    annotations: reads,
    run: async ({ state }, { limit = 20, ...query }) => ({
      structured: await state.memories.search({ ...query, limit }),
    }),
  }),
  defineTool({
    name: "session_list",
    title: "List an agent's sessions",
    description: "Sessions of an agent with the number of their messages.",
    input: z.strictObject({ agent_id: agentId, ...paging }),
    output: z.object({
      items: z.array(z.looseObject({ agent_id: z.string(), session_id: z.string(), message_count: z.number() })),
      next_cursor: nextCursor,
    }),
    annotations: reads,
    run: async ({ state }, { agent_id, limit = 20, cursor }) => ({
      structured: await state.memories.sessions(agent_id, { limit, cursor }),
    }),
  }),
];
