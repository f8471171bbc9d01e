/**
 * Time of a collection's last use (upload or query). Stored beside its counters and not in its record, so that a use changes neither
 * `updated_at` nor the etag. Written at most once per interval; a failed write is not the caller's error.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { itemIds, type CollectionRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { CollectionPartition } from "../records/collection-partition.ts";

/** Uses within this interval count as one. */
export const useEveryMs = 600_000;
/** Collections whose last write a process remembers; a forgotten one costs one read. */
const rememberedMax = 10_000;

type Dependencies = Pick<KnowledgeDependencies, "items" | "clock" | "log">;
const noted = new WeakMap<ItemStore, Map<string, number>>();

/** Internal: every upload and query records its own use. */
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
      `the use of collection ${collection.collection_id} was not recorded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function write({ items }: Dependencies, scope: Scope, collection: CollectionRecord, now: number): Promise<void> {
  const partition = new CollectionPartition(items, scope, collection);
  await partition.ensure(collection.status === "ARCHIVED" ? "ARCHIVED" : "ACTIVE");
  const last = (await partition.stats())?.record.last_used_at;
  // Another process recorded it a moment ago.
  if (typeof last === "string" && now - Date.parse(last) < useEveryMs) return;
  await partition.clean([
    { op: "check", id: itemIds.fence, where: { status: { in: ["ACTIVE", "ARCHIVED"] } } },
    { op: "patch", id: itemIds.stats, patch: [{ op: "set", path: "/last_used_at", value: isoTime(now) }] },
  ]);
}

/** The collection was deleted concurrently; there is nothing to record. */
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
