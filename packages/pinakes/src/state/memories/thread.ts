/** A message with its ancestors and replies. */
import type { Memory, Stored } from "@pinakes/client";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import { memoryLimits } from "./limits.ts";
import { noMessage, type MemoryStore } from "./memory-store.ts";
import { viewOf } from "./schema.ts";

export interface MemoryThread {
  /** From the root down to the parent, at most the last 1,000; it starts later if one is missing. */
  readonly ancestors: readonly Stored<Memory>[];
  readonly message: Stored<Memory>;
  /** In chronological order, at most 1,000. */
  readonly children: readonly Stored<Memory>[];
}

export async function memoryThread(
  store: MemoryStore,
  scope: Scope,
  agentId: string,
  id: string,
): Promise<MemoryThread> {
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
