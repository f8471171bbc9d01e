/**
 * Garbage collection (RFC 0001, "Collect"). The order list → barrier → read → delete makes it safe: a writer that commits after the barrier
 * began after it, and refers to nothing that was listed and is not kept.
 */
import { hasCode } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { keysOf } from "../store/manifest.ts";
import { itemIds, type Delta, type HistoryEntry } from "../store/records.ts";

export interface CollectResult {
  /** busy: a compactor is working, or another process was faster; try again later. */
  readonly outcome: "done" | "busy";
  readonly objects: number;
  readonly bytes: number;
  readonly versions: number;
  readonly deltas: number;
  /** With `dryRun`: the objects that would be deleted. */
  readonly keys?: readonly string[];
  /** When the next version or delta can be deleted; absent if there is nothing to wait for. */
  readonly nextAt?: number;
}

export async function collectGarbage(
  site: CollectionSite,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<CollectResult> {
  const listed = await listObjects(site);
  if (!dryRun && !(await raiseBarrier(site))) return { outcome: "busy", objects: 0, bytes: 0, versions: 0, deltas: 0 };
  const { head, log } = await site.state();
  const now = site.deps.clock.now();
  const versions = await sortVersions(site, head.version, now);
  const deltas = await sortDeltas(site, versions.kept, now);
  const keep = new Set([
    site.mirrorKey,
    head.key,
    ...versions.kept.flatMap(({ manifest, key }) => [key, ...keysOf(manifest)]),
    ...deltas.kept.map(({ key }) => key),
  ]);
  const garbage = listed.filter(({ key }) => !keep.has(key));
  if (!dryRun) {
    // The references are removed first: a crash in between leaves orphans for the next time, never a version without its files.
    const ids = [
      ...versions.gone.map(({ manifest }) => itemIds.history(manifest.version)),
      ...deltas.gone.map(({ seq }) => itemIds.delta(seq)),
    ];
    // Only while the head is the one that was read: a restore may just bring back what is about to be deleted.
    const removed = await removeItems(site, ids, { op: "check", id: itemIds.head, where: { commitId: head.commitId } });
    if (!removed) return { outcome: "busy", objects: 0, bytes: 0, versions: 0, deltas: 0 };
    for (let i = 0; i < garbage.length; i += limits.objectDeleteKeysMax) {
      await site.deps.objects.delete(
        site.scope,
        garbage.slice(i, i + limits.objectDeleteKeysMax).map(({ key }) => key),
      );
    }
  }
  const pending = log.nextSeq - 1 > head.appliedSeq;
  const nextAt = Math.min(versions.nextAt, deltas.nextAt, pending ? now + site.deps.policy.collectAfterMs : Infinity);
  return {
    outcome: "done",
    objects: garbage.length,
    bytes: garbage.reduce((sum, { bytes }) => sum + bytes, 0),
    versions: versions.gone.length,
    deltas: deltas.gone.length,
    ...(dryRun ? { keys: garbage.map(({ key }) => key) } : {}),
    ...(nextAt === Infinity ? {} : { nextAt }),
  };
}

export interface ListedKey {
  readonly key: string;
  readonly bytes: number;
}

export async function listObjects(site: CollectionSite, prefix = site.prefix): Promise<ListedKey[]> {
  const listed: ListedKey[] = [];
  for (let after: string | undefined; ;) {
    const page = await site.deps.objects.list(site.scope, prefix, after === undefined ? {} : { after });
    listed.push(...page.keys.map(({ key, bytes }) => ({ key, bytes })));
    after = page.next;
    if (after === undefined) return listed;
  }
}

/** From here on no writer that began earlier can commit or publish. Not while a compactor is working: it would lose its work. */
async function raiseBarrier(site: CollectionSite): Promise<boolean> {
  const lease = await site.lease();
  const { log } = await site.state();
  if (lease.owner !== null) return false;
  return succeeds(
    site.batch([
      { op: "check", id: itemIds.fence, where: { status: "active" } },
      {
        op: "patch",
        id: itemIds.lease,
        patch: [{ op: "incr", path: "/epoch", value: 1 }],
        where: { epoch: lease.epoch, owner: null },
      },
      {
        op: "patch",
        id: itemIds.log,
        patch: [{ op: "incr", path: "/generation", value: 1 }],
        where: { generation: log.generation },
      },
    ]),
    "PRECONDITION_FAILED",
  );
}

interface Versions {
  readonly kept: readonly HistoryEntry[];
  readonly gone: readonly HistoryEntry[];
  readonly nextAt: number;
}

async function sortVersions(site: CollectionSite, newest: number, now: number): Promise<Versions> {
  const { retentionMs, isRetained } = site.deps.policy;
  const all: HistoryEntry[] = [];
  for await (const entry of site.histories()) all.push(entry);
  const kept: HistoryEntry[] = [];
  const gone: HistoryEntry[] = [];
  let nextAt = Infinity;
  for (const [i, entry] of all.entries()) {
    const supersededAt = all[i + 1]?.committedAt;
    const retained =
      entry.manifest.version >= newest || isRetained({ createdAt: entry.committedAt, supersededAt }, now, retentionMs);
    if (retained && supersededAt !== undefined) nextAt = Math.min(nextAt, supersededAt + retentionMs);
    (retained ? kept : gone).push(entry);
  }
  return { kept, gone, nextAt };
}

interface Deltas {
  readonly kept: readonly Delta[];
  readonly gone: readonly Delta[];
  readonly nextAt: number;
}

/** A delta that the newest version has applied is needed only by readers that began before; they get a grace period. */
async function sortDeltas(site: CollectionSite, versions: readonly HistoryEntry[], now: number): Promise<Deltas> {
  const { appliedDeltaMs } = site.deps.policy;
  const appliedAt = (seq: number): number | undefined =>
    versions.find(({ manifest }) => manifest.appliedSeq >= seq)?.committedAt;
  const kept: Delta[] = [];
  const gone: Delta[] = [];
  let nextAt = Infinity;
  for await (const delta of site.all<Delta>("delta.")) {
    const at = appliedAt(delta.seq);
    if (at !== undefined && now - at >= appliedDeltaMs) gone.push(delta);
    else kept.push(delta);
    if (at !== undefined && now - at < appliedDeltaMs) nextAt = Math.min(nextAt, at + appliedDeltaMs);
  }
  return { kept, gone, nextAt };
}

/** False if the guard failed. Absent items are fine. */
export async function removeItems(site: CollectionSite, ids: readonly string[], guard?: Operation): Promise<boolean> {
  for (let i = 0; i < ids.length; i += 20) {
    const removed = await removeBatch(site, ids.slice(i, i + 20), guard);
    if (!removed) return false;
  }
  return true;
}

async function removeBatch(
  site: CollectionSite,
  ids: readonly string[],
  guard: Operation | undefined,
): Promise<boolean> {
  try {
    await site.batch([...(guard === undefined ? [] : [guard]), ...ids.map((id): Operation => ({ op: "delete", id }))]);
    return true;
  } catch (error) {
    if (hasCode(error, "PRECONDITION_FAILED")) return false;
    if (!hasCode(error, "NOT_FOUND")) throw error;
  }
  if (ids.length <= 1) return true;
  for (const id of ids) if (!(await removeBatch(site, [id], guard))) return false; // Another process removed some of them.
  return true;
}
