/**
 * When a collection was last used: loaded or asked. Kept beside its counters and never in its record, so that a use neither looks like a
 * change nor makes anybody's etag stale. It is written at most once in a while; a use that cannot be noted is no error of the caller's.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { itemIds, type CollectionRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { CollectionPartition } from "../records/collection-partition.ts";

/** Uses within this time are one use. */
export const useEveryMs = 600_000;
/** Collections that a process remembers to have noted; what is forgotten costs one read. */
const rememberedMax = 10_000;

type Dependencies = Pick<KnowledgeDependencies, "items" | "clock" | "log">;
const noted = new WeakMap<ItemStore, Map<string, number>>();

/** Not for callers: every load and every query notes its own use. */
export async function noteUse(deps: Dependencies, scope: Scope, collection: CollectionRecord): Promise<void> {
  const now = deps.clock.now();
  const known = notesOf(deps.items);
  const key = `${scope.tenant}/${collection.incarnation}`;
  if (now - (known.get(key) ?? -Infinity) < useEveryMs) return;
  if (known.size >= rememberedMax) known.clear();
  known.set(key, now);
  try {
    await write(deps, scope, collection, now);
  } catch (error) {
    known.delete(key);
    if (isOver(error)) return;
    deps.log(
      `the use of collection ${collection.collection_id} was not noted: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function write({ items }: Dependencies, scope: Scope, collection: CollectionRecord, now: number): Promise<void> {
  const partition = new CollectionPartition(items, scope, collection);
  await partition.ensure(collection.status === "ARCHIVED" ? "ARCHIVED" : "ACTIVE");
  const last = (await partition.stats())?.record.last_used_at;
  // Another process noted it a moment ago.
  if (typeof last === "string" && now - Date.parse(last) < useEveryMs) return;
  await partition.clean([
    { op: "check", id: itemIds.fence, where: { status: { in: ["ACTIVE", "ARCHIVED"] } } },
    { op: "patch", id: itemIds.stats, patch: [{ op: "set", path: "/last_used_at", value: isoTime(now) }] },
  ]);
}

/** The collection ended meanwhile: there is nothing left to note. */
function isOver(error: unknown): boolean {
  return hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND");
}

function notesOf(items: ItemStore): Map<string, number> {
  const known = noted.get(items);
  if (known !== undefined) return known;
  const fresh = new Map<string, number>();
  noted.set(items, fresh);
  return fresh;
}
