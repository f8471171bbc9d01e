/** A collection with a time to live (`expires_after_days`): when it was not used for that long, its documents are deleted. Its record stays and says so. */
import type { Scope } from "../../domain/scope.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { Services } from "../api/services.ts";
import { dayMs } from "../limits.ts";
import { collectionDocument, isLive } from "../records/catalog-records.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { CollectionRecord, StatsRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { RegisteredUnfinished } from "../records/work-registry.ts";

type Dependencies = Pick<Services, "deps" | "catalog" | "jobs" | "queue">;

/** When it expires unless it is used before; undefined: never. */
export function expiryOf(
  { expires_after_days, created_at }: Pick<CollectionRecord, "expires_after_days" | "created_at">,
  stats: Pick<StatsRecord, "last_used_at"> | undefined,
): number | undefined {
  if (typeof expires_after_days !== "number") return undefined;
  return Date.parse(stats?.last_used_at ?? created_at) + expires_after_days * dayMs;
}

/** Looks at it again at the time that is returned; never again where there is none. */
export async function expireCollection(
  { deps, catalog, jobs, queue }: Dependencies,
  scope: Scope,
  entry: RegisteredUnfinished,
): Promise<number | undefined> {
  const found = await catalog.incarnation(scope, entry);
  if (typeof found?.record.expires_after_days !== "number" || typeof found.record.expired_at === "string")
    return undefined;
  const { record, etag } = found;
  const now = deps.clock.now();
  // One that is deleted may be restored, and expires then.
  if (!isLive(record) || record.status === "ARCHIVED") return now + dayMs;
  const partition = new CollectionPartition(deps.items, scope, record);
  const due = expiryOf(record, (await partition.stats())?.record) ?? now;
  if (due > now) return due;
  // The documents first: a record that says so without its documents going would never be looked at again.
  await queue.watch(partition);
  await jobs.start(scope, { kind: "delete-documents", ...incarnationOf(record), created_by: "system" });
  const document = collectionDocument({ ...record, expired_at: isoTime(now) });
  const written = await succeeds(
    catalog.batch(scope, record.repository_id, [{ op: "replace", document, ifMatch: etag }]),
    "PRECONDITION_FAILED",
  );
  return written ? undefined : now;
}
