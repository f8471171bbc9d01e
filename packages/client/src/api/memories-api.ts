/** Memories: what agents and people said, by agent and session. Threads and entities are the free-form containers from before. */
import type { CreateOptions, IfMatch } from "./common.ts";
import type { Page, Paging, SortOrder } from "../contract/common.ts";
import type {
  Agent,
  AgentEntity,
  ContextStrategy,
  ContextWindow,
  Memory,
  MemoryChange,
  MemorySearchMode,
  MemorySearchResult,
  MemorySort,
  MemoryThread,
  MessageType,
  NewMemory,
  Session,
  Stored,
  ThreadMessage,
  TtlUnit,
} from "../contract/state.ts";
import type { JsonObject } from "../json.ts";

export interface MemoryQuery extends Paging {
  readonly session_id?: string | undefined;
  readonly message_type?: MessageType | undefined;
  /** `timestamp`: in order (the default within a session); `relevance`: best first. */
  readonly sort?: MemorySort | undefined;
  readonly order?: SortOrder | undefined;
}

export interface ContextQuery {
  readonly agent_id: string;
  readonly session_id: string;
  readonly maxTokens: number;
  readonly strategy?: ContextStrategy | undefined;
}

export interface MemorySearch {
  readonly query: string;
  readonly agent_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly mode?: MemorySearchMode | undefined;
  readonly limit?: number | undefined;
}

export interface AppendOptions extends CreateOptions {
  /** Accepts a message whose parent does not exist. */
  readonly allowDangling?: boolean | undefined;
  /** For the first message of a session. */
  readonly ttlUnit?: TtlUnit | undefined;
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
  /** The message with its ancestors and replies. */
  thread(agentId: string, id: string): Promise<MemoryThread>;
  /** The agents that have memories, in the order of their ids. */
  agents(query?: Paging): Promise<Page<Agent>>;
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

export interface ThreadsApi {
  append(threadId: string, message: JsonObject): Promise<Stored<ThreadMessage>>;
  /** In order and atomically (≤ 20); a message whose id already exists with the same content is not added again. */
  appendMany(threadId: string, messages: readonly JsonObject[]): Promise<readonly Stored<ThreadMessage>[]>;
  list(
    threadId: string,
    query?: Paging & { readonly order?: SortOrder | undefined },
  ): Promise<Page<Stored<ThreadMessage>>>;
  get(threadId: string, id: string): Promise<Stored<ThreadMessage>>;
  deleteMessage(threadId: string, id: string, options?: IfMatch): Promise<void>;
  clear(threadId: string): Promise<{ readonly deleted: number }>;
}

export interface EntitiesApi {
  get(agentId: string): Promise<Stored<AgentEntity>>;
  put(agentId: string, entity: JsonObject, options?: IfMatch): Promise<Stored<AgentEntity>>;
  delete(agentId: string, options?: IfMatch): Promise<void>;
}
