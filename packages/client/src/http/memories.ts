/** Memories, threads and entities over HTTP. */
import type { AppendOptions, EntitiesApi, MemoriesApi, ThreadsApi } from "../api/memories-api.ts";
import { path, type Requester, type RequestOptions } from "./request.ts";

export function httpMemories(http: Requester): MemoriesApi {
  return {
    append: (memory, options = {}) =>
      http.json("POST", path`/v1/agents/${memory.agent_id}/memories`, { body: memory, ...appending(options) }),
    appendMany: async (agentId, memories, options = {}) => {
      const { items } = await http.json<{ items: never }>("POST", path`/v1/agents/${agentId}/memories`, {
        body: { items: memories },
        ...appending(options),
      });
      return items;
    },
    get: (agentId, id) => http.json("GET", path`/v1/agents/${agentId}/memories/${id}`),
    list: (agentId, query = {}) => http.json("GET", path`/v1/agents/${agentId}/memories`, { query: { ...query } }),
    patch: (agentId, id, body, options = {}) =>
      http.json("PATCH", path`/v1/agents/${agentId}/memories/${id}`, { body, ifMatch: options.ifMatch }),
    delete: (agentId, id, options = {}) =>
      http.json("DELETE", path`/v1/agents/${agentId}/memories/${id}`, { ifMatch: options.ifMatch }),
    thread: (agentId, id) => http.json("GET", path`/v1/agents/${agentId}/memories/${id}/thread`),
    agents: (query = {}) => http.json("GET", path`/v1/agents`, { query: { ...query } }),
    sessions: (agentId, query = {}) => http.json("GET", path`/v1/agents/${agentId}/sessions`, { query: { ...query } }),
    session: (agentId, sessionId) => http.json("GET", path`/v1/agents/${agentId}/sessions/${sessionId}`),
    fork: (agentId, sessionId, { session_id, upTo }) =>
      http.json("POST", `${path`/v1/agents/${agentId}/sessions/${sessionId}`}:fork`, {
        body: { session_id, up_to: upTo },
        idempotencyKey: crypto.randomUUID(),
      }),
    deleteSession: (agentId, sessionId) =>
      http.json("DELETE", path`/v1/agents/${agentId}/sessions/${sessionId}`, { repeatable: true }),
    context: ({ agent_id, session_id, maxTokens, strategy }) =>
      http.json("GET", path`/v1/agents/${agent_id}/sessions/${session_id}/context`, {
        query: { max_tokens: maxTokens, strategy },
      }),
    search: (query) => http.json("POST", "/v1/memories:search", { body: query, repeatable: true }),
  };
}

function appending({ idempotencyKey, allowDangling, ttlUnit }: AppendOptions): RequestOptions {
  return {
    idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
    query: { allow_dangling: allowDangling, ttl_unit: ttlUnit },
  };
}

/** `base`: threads or system-threads. */
export function httpThreads(http: Requester, base: "threads" | "system-threads"): ThreadsApi {
  const at = (threadId: string): string => `/v1/${base}/${encodeURIComponent(threadId)}/messages`;
  // A single message is sent as a list: alone, a message with only a list `items` would be interpreted as several messages.
  const appendMany: ThreadsApi["appendMany"] = async (threadId, messages) =>
    (
      await http.json<{ items: never[] }>("POST", at(threadId), {
        body: { items: messages },
        idempotencyKey: crypto.randomUUID(),
      })
    ).items;
  return {
    append: async (threadId, message) => (await appendMany(threadId, [message]))[0] as never,
    appendMany,
    list: (threadId, query = {}) => http.json("GET", at(threadId), { query: { ...query } }),
    get: (threadId, id) => http.json("GET", `${at(threadId)}/${encodeURIComponent(id)}`),
    deleteMessage: (threadId, id, options = {}) =>
      http.json("DELETE", `${at(threadId)}/${encodeURIComponent(id)}`, { ifMatch: options.ifMatch }),
    clear: (threadId) => http.json("DELETE", at(threadId), { repeatable: true }),
  };
}

export function httpEntities(http: Requester): EntitiesApi {
  return {
    get: (agentId) => http.json("GET", path`/v1/agent-entities/${agentId}`),
    put: (agentId, entity, options = {}) =>
      http.json("PUT", path`/v1/agent-entities/${agentId}`, { body: entity, ifMatch: options.ifMatch }),
    delete: (agentId, options = {}) =>
      http.json("DELETE", path`/v1/agent-entities/${agentId}`, { ifMatch: options.ifMatch }),
  };
}
