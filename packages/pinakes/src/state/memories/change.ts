/** Updates and deletes one message. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Memory, MemoryChange, Stored } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { hasCode, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import { noMessage, type MemoryStore } from "./memory-store.ts";
import { completeMemory, estimateTokens, ownFields, viewOf } from "./schema.ts";

const attemptsMax = 50;
const changeable = ["content", "relevance_score", "token_count", "ttl", "metadata"];

interface Target {
  readonly agentId: string;
  readonly id: string;
  readonly ifMatch?: string | undefined;
}

export async function changeMemory(
  store: MemoryStore,
  caller: Caller,
  target: Target & { readonly change: MemoryChange },
): Promise<Stored<Memory>> {
  const { agentId, id, ifMatch, change } = target;
  requireChange(change);
  for (let attempt = 1; ; attempt += 1) {
    const item = await store.read(caller.scope, agentId, id);
    if (item === undefined) throw noMessage(agentId, id);
    const document = changed(item, change, caller.scope.tenant);
    try {
      const { etag, modifiedAt } = await store.write(caller.scope, agentId, {
        op: "replace",
        document,
        ifMatch: ifMatch ?? item.etag,
      });
      return viewOf({ document, etag: etag as string, modifiedAt: modifiedAt as number });
    } catch (error) {
      if (isCode(error, "NOT_FOUND")) throw noMessage(agentId, id);
      // Changed concurrently. A failed condition of the caller is final.
      if (!isCode(error, "PRECONDITION_FAILED") || ifMatch !== undefined || attempt >= attemptsMax) throw error;
      await sleep(Math.random() * Math.min(100, 2 ** attempt));
    }
  }
}

export async function deleteMemory(store: MemoryStore, scope: Scope, { agentId, id, ifMatch }: Target): Promise<void> {
  // Read first: an invisible message cannot be deleted either.
  if ((await store.read(scope, agentId, id)) === undefined) throw noMessage(agentId, id);
  try {
    await store.write(scope, agentId, { op: "delete", id, ifMatch });
  } catch (error) {
    throw isCode(error, "NOT_FOUND") ? noMessage(agentId, id) : error;
  }
}

function requireChange(change: unknown): asserts change is JsonObject {
  if (!isJsonObject(change)) throw invalid(`A change must be an object with any of ${changeable.join(", ")}.`);
  const other = Object.keys(change).find((name) => change[name] !== undefined && !changeable.includes(name));
  if (other !== undefined) throw invalid(`${other}: cannot be changed; a change has any of ${changeable.join(", ")}.`);
}

function changed({ document, modifiedAt }: Item, { metadata, ...change }: MemoryChange, tenant: string): JsonObject {
  const { content, token_count, ttl } = change;
  if (document["ttl_unit"] === "session" && ttl !== undefined && ttl !== -1)
    throw invalid(`ttl: this message expires with its session; got ${show(ttl)}.`);
  if (metadata !== undefined && !isJsonObject(metadata))
    throw invalid("metadata: must be an object; its properties replace existing ones.");
  const own = Object.fromEntries(
    ownFields.flatMap((name) => (document[name] === undefined ? [] : [[name, document[name]] as const])),
  );
  const next = {
    ...document,
    ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
    // A token count given for other content would be wrong.
    ...(content !== undefined && content !== document["content"] && token_count === undefined
      ? { token_count: estimateTokens(content) }
      : {}),
    ...(metadata === undefined ? {} : { metadata: { ...(document["metadata"] as JsonObject), ...metadata } }),
  };
  return { ...completeMemory(next, { tenant, now: modifiedAt }), ...own };
}

function isCode(error: unknown, code: "NOT_FOUND" | "PRECONDITION_FAILED"): boolean {
  return hasCode(error, code);
}
