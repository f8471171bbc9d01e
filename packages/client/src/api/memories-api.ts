/** Memories: what agents and people said, by agent and session. Threads and entities are the free-form containers from before. */
import type { Memory, MessageType, Stored } from "../documents.ts";
import type { JsonObject } from "../json.ts";
import type { CreateOptions, IfMatch, Page, Paging } from "./common.ts";

export type NewMemory = Pick<Memory, "agent_id" | "session_id" | "content" | "message_type"> &
  Partial<Omit<Memory, "metadata">> & { readonly metadata?: Partial<Memory["metadata"]> };
export type MemoryChange = Partial<Pick<Memory, "content" | "relevance_score" | "token_count" | "ttl">> & {
  readonly metadata?: Partial<Memory["metadata"]>;
};

export interface MemoryQuery extends Paging {
  readonly session_id?: string | undefined;
  readonly message_type?: MessageType | undefined;
  /** `timestamp`: in order (the default within a session); `relevance`: best first. */
  readonly sort?: "timestamp" | "relevance" | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

export interface Session {
  readonly agent_id: string;
  readonly session_id: string;
  readonly message_count: number;
  /** Null in lists: for the sum all messages of the session are read. */
  readonly token_count: number | null;
  readonly first_message_at: string | null;
  readonly last_message_at: string | null;
  readonly forked_from?: string;
  /** `session`: the whole session expires at once, so long after its last message; `message`: each message by itself. */
  readonly ttl_unit: "message" | "session";
}

export interface ContextQuery {
  readonly agent_id: string;
  readonly session_id: string;
  readonly maxTokens: number;
  readonly strategy?: "recent" | "relevance" | undefined;
}
export interface ContextWindow {
  /**
   * In the order they were said; a tool call and its result are both in or both out. With `recent`, a window that leaves out earlier
   * messages starts with a user or system message, unless what fits has none.
   */
  readonly messages: readonly Stored<Memory>[];
  readonly token_count: number;
  readonly omitted: number;
}

export interface MemorySearch {
  readonly query: string;
  readonly agent_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly mode?: "keyword" | "semantic" | "hybrid" | undefined;
  readonly limit?: number | undefined;
}
export interface MemoryHit {
  readonly memory: Stored<Memory>;
  readonly score: number;
}

export interface MemorySearchResult {
  readonly hits: readonly MemoryHit[];
  readonly mode_used: "keyword" | "semantic" | "hybrid";
  /** Not all messages are in the index of searches yet; each search brings more of them in. */
  readonly incomplete?: true;
}

export interface AppendOptions extends CreateOptions {
  /** Take a message whose parent is not there. */
  readonly allowDangling?: boolean;
  /** For the first message of a session. */
  readonly ttlUnit?: "message" | "session";
}

export interface MemoriesApi {
  append(memory: NewMemory, options?: AppendOptions): Promise<Stored<Memory>>;
  /** Several of one agent, in order, all or nothing (≤ 20). */
  appendMany(
    agentId: string,
    memories: readonly Omit<NewMemory, "agent_id">[],
    options?: AppendOptions,
  ): Promise<readonly Stored<Memory>[]>;
  get(agentId: string, id: string): Promise<Stored<Memory>>;
  list(agentId: string, query?: MemoryQuery): Promise<Page<Stored<Memory>>>;
  patch(agentId: string, id: string, change: MemoryChange, options?: IfMatch): Promise<Stored<Memory>>;
  delete(agentId: string, id: string, options?: IfMatch): Promise<void>;
  /** The message with what it answers and what answers it. */
  thread(
    agentId: string,
    id: string,
  ): Promise<{
    readonly ancestors: readonly Stored<Memory>[];
    readonly message: Stored<Memory>;
    readonly children: readonly Stored<Memory>[];
  }>;
  sessions(agentId: string, query?: Paging): Promise<Page<Session>>;
  session(agentId: string, sessionId: string): Promise<Session>;
  /** A copy of a session's messages, up to one of them, under a new name. */
  fork(
    agentId: string,
    sessionId: string,
    options: { readonly session_id: string; readonly upTo?: string | undefined },
  ): Promise<Session>;
  deleteSession(agentId: string, sessionId: string): Promise<{ readonly deleted: number }>;
  context(query: ContextQuery): Promise<ContextWindow>;
  search(query: MemorySearch): Promise<MemorySearchResult>;
}

/** Documents of any shape with an id, in the order they were added (`sequence`). */
export type ThreadMessage = JsonObject & { readonly id: string; readonly threadId: string };
export interface ThreadsApi {
  append(threadId: string, message: JsonObject): Promise<Stored<ThreadMessage>>;
  /** In order, all or nothing (≤ 20); a message whose id is there already with the same content is not added again. */
  appendMany(threadId: string, messages: readonly JsonObject[]): Promise<readonly Stored<ThreadMessage>[]>;
  list(
    threadId: string,
    query?: Paging & { readonly order?: "asc" | "desc" | undefined },
  ): Promise<Page<Stored<ThreadMessage>>>;
  get(threadId: string, id: string): Promise<Stored<ThreadMessage>>;
  deleteMessage(threadId: string, id: string, options?: IfMatch): Promise<void>;
  clear(threadId: string): Promise<{ readonly deleted: number }>;
}

export type AgentEntity = JsonObject & { readonly id: string; readonly agentId: string };
export interface EntitiesApi {
  get(agentId: string): Promise<Stored<AgentEntity>>;
  put(agentId: string, entity: JsonObject, options?: IfMatch): Promise<Stored<AgentEntity>>;
  delete(agentId: string, options?: IfMatch): Promise<void>;
}
