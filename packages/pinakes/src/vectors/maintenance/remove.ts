/** Deleting a collection (RFC 0001, "Delete"): fenced at once, its bytes removed at `purgeAt`, resumable at every point. */
import { PinakesError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { VectorWork } from "../log/vector-work.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { itemIds, type Fence, type Lease, type Status } from "../store/records.ts";
import { listObjects, removeItems } from "./collect.ts";

const secondSweepMs = 86_400_000;

/** No reads and writes from here on. Until `purgeAt` it can be restored exactly. */
export async function trashCollection(site: CollectionSite, work: VectorWork, purgeAt: number): Promise<void> {
  const fence = await site.fence();
  if (fence === undefined || fence.status === "deleted" || fence.status === "purging") throw site.notFound();
  const { tenant, collection } = site;
  await work.put({ kind: "purge", tenant, key: collection, due_at: purgeAt });
  await fenceOff(site, fence, { ...fence, status: "trashed", purgeAt });
}

export async function undeleteCollection(site: CollectionSite, work: VectorWork): Promise<void> {
  const fence = await site.fence();
  if (fence?.status !== "trashed")
    throw fence?.status === "active" ? new PinakesError("CONFLICT", "The collection is not deleted.") : site.notFound();
  const { purgeAt: _, ...rest } = fence;
  const { tenant, collection } = site;
  // Read before: an entry that a later deletion renews stays.
  const purge = await work.read({ kind: "purge", tenant, key: collection });
  await site.batch([
    {
      op: "replace",
      document: site.document(itemIds.fence, { ...rest, status: "active" }),
      where: { status: "trashed" },
    },
  ]);
  if (purge !== undefined) await work.remove(purge);
}

export interface PurgeResult {
  readonly objects: number;
  readonly items: number;
}

/** Removes every object, then every item but the fence. Called again after a crash it continues; at the end it finds nothing. */
export async function purgeCollection(site: CollectionSite, work: VectorWork): Promise<PurgeResult> {
  const fence = await site.fence();
  if (fence === undefined) throw site.notFound();
  const { tenant, collection } = site;
  if (fence.status !== "purging" && fence.status !== "deleted") {
    await work.put({ kind: "purge", tenant, key: collection, due_at: 0 });
    await fenceOff(site, fence, { ...fence, status: "purging" });
  }
  const objects = (await removeObjects(site, site.prefix)) + (await removeObjects(site, site.intakePrefix));
  const ids: string[] = [];
  for await (const { id } of site.all<object>("")) if (id !== itemIds.fence) ids.push(id);
  await removeItems(site, ids);
  const { reason: _r, purgeAt: _p, ...rest } = fence;
  await site.batch([
    { op: "replace", document: site.document(itemIds.fence, { ...rest, status: "deleted" } satisfies Fence) },
  ]);
  // An upload in flight may arrive after the list: it is checked once more, later.
  const second = fence.status === "deleted";
  const entry = await work.read({ kind: "purge", tenant, key: collection });
  if (second && entry !== undefined) await work.remove(entry);
  else if (!second)
    await work.put({ kind: "purge", tenant, key: collection, due_at: site.deps.clock.now() + secondSweepMs });
  return { objects, items: ids.length };
}

export interface Remains {
  /** `absent`: it never existed. */
  readonly status: Status | "absent";
  /** Objects, and items beside the fence. */
  readonly left: number;
}

/** What still exists of a collection, whatever its state: a purge is complete when this is 0. */
export async function remainsOf(site: CollectionSite): Promise<Remains> {
  const fence = await site.fence();
  let left = (await listObjects(site, site.prefix)).length + (await listObjects(site, site.intakePrefix)).length;
  for await (const { id } of site.all<object>("")) if (id !== itemIds.fence) left += 1;
  return { status: fence?.status ?? "absent", left };
}

async function removeObjects(site: CollectionSite, prefix: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const keys = (await listObjects(site, prefix)).map(({ key }) => key);
    if (keys.length === 0) return removed;
    for (let i = 0; i < keys.length; i += limits.objectDeleteKeysMax)
      await site.deps.objects.delete(site.scope, keys.slice(i, i + limits.objectDeleteKeysMax));
    removed += keys.length;
  }
}

/** The status changes, and the holder of the lease or a pending publish is rejected. */
async function fenceOff(site: CollectionSite, from: Fence, to: Fence): Promise<void> {
  const lease = await site.read<Lease>(itemIds.lease);
  // Incremented in the batch itself: the lease may be taken after it was read, and an epoch never goes back.
  const patch = [
    { op: "incr" as const, path: "/epoch", value: 1 },
    { op: "set" as const, path: "/owner", value: null },
  ];
  await site.batch([
    { op: "replace", document: site.document(itemIds.fence, to), where: { status: from.status } },
    ...(lease === undefined ? [] : [{ op: "patch" as const, id: itemIds.lease, patch }]),
  ]);
}
