/** Memories: messages of agents and users, by agent and session. */
import type {
  AppendOptions,
  ContextQuery,
  ContextWindow,
  IfMatch,
  Memory,
  MemoryChange,
  MemorySearch,
  MemorySearchResult,
  NewMemory,
  Page,
  Paging,
  Session,
  Stored,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { type Caller, requireCaller } from "../../domain/caller.ts";
import { invalid } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, SessionTokens } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { agentMemories } from "./agent-memories.ts";
import { Agents, type AgentView } from "./agents.ts";
import { Appender } from "./append.ts";
import { changeMemory, deleteMemory } from "./change.ts";
import { contextWindow } from "./context.ts";
import { Forks } from "./fork.ts";
import { memoryLimits } from "./limits.ts";
import { listMemories, type ListQuery } from "./list.ts";
import { MemoryStore, noMessage, requireName } from "./memory-store.ts";
import { viewOf } from "./schema.ts";
import { MemorySearches } from "./search.ts";
import { SessionCare } from "./session-care.ts";
import { Sessions } from "./sessions.ts";

/** Tokens of writes that a list must show, on engines whose indexes are late. */
interface WithSession {
  readonly session?: SessionTokens | undefined;
}

export class Memories {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;
  readonly #care: SessionCare;
  readonly #appender: Appender;
  readonly #agents: Agents;
  readonly #sessions: Sessions;
  readonly #forks: Forks;
  readonly #searches: MemorySearches;

  constructor(deps: StateDependencies) {
    this.#deps = deps;
    this.#store = new MemoryStore(deps);
    this.#care = new SessionCare(deps, this.#store);
    this.#appender = new Appender(deps, this.#store, this.#care);
    this.#agents = new Agents(deps, this.#store);
    this.#sessions = new Sessions(deps, this.#store, this.#care);
    this.#forks = new Forks(deps, this.#store, this.#care);
    this.#searches = new MemorySearches(deps, this.#store);
  }

  /** Opens its containers. */
  async open(): Promise<void> {
    await this.#deps.items.openContainer(agentMemories.definition);
  }

  async append(caller: Caller, memory: NewMemory, options?: AppendOptions): Promise<Stored<Memory>> {
    requireCaller(caller);
    if (!isJsonObject(memory))
      throw invalid("A message must be an object with agent_id, session_id, content and message_type.");
    const agentId = requireName(memory["agent_id"], "agent_id");
    const [stored] = await this.#appender.append(caller, agentId, [memory], options);
    return stored as Stored<Memory>;
  }

  async appendMany(
    caller: Caller,
    agentId: string,
    memories: readonly Omit<NewMemory, "agent_id">[],
    options?: AppendOptions,
  ): Promise<readonly Stored<Memory>[]> {
    requireCaller(caller);
    return this.#appender.append(caller, requireName(agentId, "agent_id"), memories, options);
  }

  async get(caller: Caller, agentId: string, id: string): Promise<Stored<Memory>> {
    const scope = requireCaller(caller);
    const item = await this.#store.read(scope, requireName(agentId, "agent_id"), id);
    if (item === undefined) throw noMessage(agentId, id);
    return viewOf(item);
  }

  async list(caller: Caller, agentId: string, query: ListQuery = {}): Promise<Page<Stored<Memory>>> {
    const scope = requireCaller(caller);
    return listMemories(this.#store, scope, requireName(agentId, "agent_id"), query);
  }

  async patch(
    caller: Caller,
    agentId: string,
    id: string,
    change: MemoryChange,
    options: IfMatch = {},
  ): Promise<Stored<Memory>> {
    requireCaller(caller);
    return changeMemory(this.#store, caller, { agentId: requireName(agentId, "agent_id"), id, change, ...options });
  }

  async delete(caller: Caller, agentId: string, id: string, options: IfMatch = {}): Promise<void> {
    const scope = requireCaller(caller);
    await deleteMemory(this.#store, scope, { agentId: requireName(agentId, "agent_id"), id, ...options });
  }

  async thread(caller: Caller, agentId: string, id: string): Promise<MemoryThread> {
    const scope = requireCaller(caller);
    return memoryThread(this.#store, scope, requireName(agentId, "agent_id"), id);
  }

  /** Agents with messages, ordered by id. */
  async agents(caller: Caller, query: Paging & WithSession = {}): Promise<Page<AgentView>> {
    return this.#agents.list(requireCaller(caller), query);
  }

  async sessions(caller: Caller, agentId: string, query: Paging & WithSession = {}): Promise<Page<Session>> {
    const scope = requireCaller(caller);
    return this.#sessions.list(scope, requireName(agentId, "agent_id"), query);
  }

  async session(caller: Caller, agentId: string, sessionId: string): Promise<Session> {
    const scope = requireCaller(caller);
    return this.#sessions.get(scope, requireName(agentId, "agent_id"), sessionId);
  }

  async fork(
    caller: Caller,
    agentId: string,
    sessionId: string,
    options: { readonly session_id: string; readonly upTo?: string | undefined },
  ): Promise<Session> {
    const scope = requireCaller(caller);
    await this.#forks.fork(scope, {
      agentId: requireName(agentId, "agent_id"),
      from: sessionId,
      to: options.session_id,
      upTo: options.upTo,
    });
    return this.#sessions.get(scope, agentId, options.session_id);
  }

  async deleteSession(caller: Caller, agentId: string, sessionId: string): Promise<{ readonly deleted: number }> {
    const scope = requireCaller(caller);
    return this.#sessions.delete(scope, requireName(agentId, "agent_id"), sessionId);
  }

  async context(caller: Caller, query: ContextQuery & WithSession): Promise<ContextWindow> {
    requireCaller(caller);
    return contextWindow(this.#store, caller, query);
  }

  async search(caller: Caller, query: MemorySearch): Promise<MemorySearchResult> {
    requireCaller(caller);
    const run = () => this.#searches.search(caller, query);
    return this.#deps.places?.searches.within(caller.scope.tenant, run) ?? run();
  }

  /** A session that expires as a whole, or was forked, is due. */
  async process(entry: RegisteredWork): Promise<void> {
    await this.#care.process(entry);
  }
}

/** A message with its ancestors and replies. */
interface MemoryThread {
  /** From the root down to the parent, at most the last 1,000; it starts later if one is missing. */
  readonly ancestors: readonly Stored<Memory>[];
  readonly message: Stored<Memory>;
  /** In chronological order, at most 1,000. */
  readonly children: readonly Stored<Memory>[];
}

async function memoryThread(store: MemoryStore, scope: Scope, agentId: string, id: string): Promise<MemoryThread> {
  const message = await store.read(scope, agentId, id);
  if (message === undefined) throw noMessage(agentId, id);
  const ancestors: Item[] = [];
  // Parents written through the containers API may form a cycle.
  const seen = new Set([id]);
  for (
    let parent = parentOf(message);
    parent !== null && !seen.has(parent) && ancestors.length < memoryLimits.ancestorsMax;
  ) {
    seen.add(parent);
    const item = await store.read(scope, agentId, parent);
    if (item === undefined) break;
    ancestors.push(item);
    parent = parentOf(item);
  }
  const { childrenMax: limit } = memoryLimits;
  const children = await store.page(scope, agentId, {
    index: "byParent",
    equals: { agent_id: agentId, parent_message_id: id },
    limit,
  });
  return {
    ancestors: ancestors.toReversed().map(viewOf),
    message: viewOf(message),
    children: children.items.map(viewOf),
  };
}

function parentOf({ document }: Item): string | null {
  return (document["parent_message_id"] as string | null | undefined) ?? null;
}
