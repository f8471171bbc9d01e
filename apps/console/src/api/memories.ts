import type {
  Agent,
  ContextStrategy,
  ContextWindow,
  Memory,
  MemorySearchMode,
  MemorySearchResult,
  MemoryThread,
  Session,
} from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post, request } from "./request.ts";

export interface SessionId {
  readonly agent: string;
  readonly session: string;
}

export const memorySearchModes = ["hybrid", "keyword", "semantic"] as const;
const searchHitsMax = 100;

export function agentsOptions() {
  return pagedOptions<Agent>(["memories", "agents"], "/v1/agents");
}

export function sessionsOptions(agent: string) {
  return pagedOptions<Session>(["memories", "sessions", agent], path`/v1/agents/${agent}/sessions`);
}

function sessionPath({ agent, session }: SessionId): string {
  return path`/v1/agents/${agent}/sessions/${session}`;
}

export function sessionOptions(id: SessionId) {
  return queryOptions({
    queryKey: ["memories", "session", id.agent, id.session],
    queryFn: ({ signal }) => get<Session>(sessionPath(id), { signal }),
  });
}

export function messagesOptions(id: SessionId) {
  return pagedOptions<Memory>(["memories", "messages", id.agent, id.session], `${sessionPath(id)}/messages`, {
    order: "asc",
  });
}

export function contextOptions(id: SessionId, maxTokens: number | undefined, strategy: ContextStrategy) {
  return queryOptions({
    queryKey: ["memories", "context", id.agent, id.session, maxTokens, strategy],
    queryFn: ({ signal }) =>
      get<ContextWindow>(`${sessionPath(id)}/context`, { query: { max_tokens: maxTokens, strategy }, signal }),
    enabled: maxTokens !== undefined,
  });
}

export function threadOptions(agent: string, id: string) {
  return queryOptions({
    queryKey: ["memories", "thread", agent, id],
    queryFn: ({ signal }) => get<MemoryThread>(`${path`/v1/agents/${agent}/memories/${id}`}/thread`, { signal }),
  });
}

export function memorySearchOptions(query: string, mode: MemorySearchMode | undefined, agent: string | undefined) {
  return queryOptions({
    queryKey: ["memories", "search", query, mode, agent],
    queryFn: ({ signal }) =>
      post<MemorySearchResult>(
        "/v1/memories:search",
        { query, mode, agent_id: agent, limit: searchHitsMax },
        { signal },
      ),
    enabled: query !== "",
  });
}

export function forkSession(id: SessionId, as: string, upTo: string | undefined): Promise<Session> {
  return post<Session>(`${sessionPath(id)}:fork`, { session_id: as, up_to: upTo });
}

export async function deleteSession(id: SessionId): Promise<number> {
  return (await request<{ readonly deleted: number }>("DELETE", sessionPath(id))).body.deleted;
}
