/** Removes many messages of one agent, in bounded batches, safe under concurrency. */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import { memoryLimits } from "./limits.ts";
import type { MemoryStore } from "./memory-store.ts";

/** `guard` is in every batch: if it fails, the removal stops with its error, and nothing of that batch was removed. */
export async function removeMessages(
  store: MemoryStore,
  scope: Scope,
  agentId: string,
  { ids, guard }: { readonly ids: readonly string[]; readonly guard?: Operation },
): Promise<number> {
  const guards = guard === undefined ? [] : [guard];
  const size = memoryLimits.batchOperationsMax - guards.length;
  let removed = 0;
  for (let at = 0; at < ids.length; at += size) {
    const some = ids.slice(at, at + size);
    try {
      await store.batch(scope, agentId, [...guards, ...some.map((id): Operation => ({ op: "delete", id }))]);
      removed += some.length;
    } catch (error) {
      if (!isGone(error)) throw error;
      // One of them is already gone: remove the others one by one.
      for (const id of some) removed += await removeOne(store, scope, agentId, [...guards, { op: "delete", id }]);
    }
  }
  return removed;
}

async function removeOne(
  store: MemoryStore,
  scope: Scope,
  agentId: string,
  operations: readonly Operation[],
): Promise<number> {
  try {
    await store.batch(scope, agentId, operations);
    return 1;
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return hasCode(error, "NOT_FOUND");
}
