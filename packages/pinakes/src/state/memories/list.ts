/** Lists of messages, each served by an index. */
import { messageTypes, type Memory, type MemoryQuery, type Page, type Stored } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Query, SessionTokens } from "../../ports/item-store.ts";
import type { MemoryStore } from "./memory-store.ts";
import { requireName } from "./memory-store.ts";
import { viewOf } from "./schema.ts";

export type ListQuery = MemoryQuery & { readonly session?: SessionTokens | undefined };

export async function listMemories(
  store: MemoryStore,
  scope: Scope,
  agentId: string,
  query: ListQuery,
): Promise<Page<Stored<Memory>>> {
  const { limit, cursor, session } = query;
  const page = await store.page(
    scope,
    agentId,
    {
      ...choose(scope, agentId, checked(query)),
      limit,
      cursor,
    },
    session,
  );
  return { items: page.items.map(viewOf), next_cursor: page.cursor ?? null };
}

function checked(query: ListQuery): ListQuery {
  const { session_id, message_type, sort, order } = query;
  if (session_id !== undefined) requireName(session_id, "session_id");
  if (message_type !== undefined && !messageTypes.includes(message_type))
    throw invalid(`message_type: must be one of ${messageTypes.join(", ")}; got ${show(message_type)}.`);
  if (sort !== undefined && sort !== "timestamp" && sort !== "relevance")
    throw invalid(`sort: must be "timestamp" or "relevance", got ${show(sort)}.`);
  if (order !== undefined && order !== "asc" && order !== "desc")
    throw invalid(`order: must be "asc" or "desc", got ${show(order)}.`);
  return query;
}

/** Default order: oldest first by time, best first by relevance. */
function choose(
  { tenant }: Scope,
  agentId: string,
  { session_id, message_type, sort = "timestamp", order }: ListQuery,
): Query {
  const filter = (fields: Record<string, string | undefined>) => {
    const given = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return given.length === 0 ? {} : { filter: Object.fromEntries(given) };
  };
  if (sort === "relevance") {
    // The index is in descending order.
    const direction = order === "asc" ? "desc" : "asc";
    return {
      index: "byRelevance",
      equals: { workspace_id: tenant, agent_id: agentId },
      order: direction,
      ...filter({ session_id, message_type }),
    };
  }
  const time = { order: order ?? "asc" } as const;
  if (session_id !== undefined)
    return { index: "bySession", equals: { agent_id: agentId, session_id }, ...time, ...filter({ message_type }) };
  if (message_type !== undefined) return { index: "byType", equals: { agent_id: agentId, message_type }, ...time };
  return { index: "all", equals: { workspace_id: tenant, agent_id: agentId }, ...time };
}
