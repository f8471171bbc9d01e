/** Figures of a collection, derived from its items (RFC 0001, principle 5). */
import type { VectorStats as CollectionStats } from "@pinakes/client";
import type { CollectionSite } from "./store/collection-site.ts";
import { liveOf } from "./store/manifest.ts";
import { currentManifest } from "./compact/current-manifest.ts";

export type { CollectionStats };

export async function collectionStats(site: CollectionSite): Promise<CollectionStats> {
  const { fence, head, log, manifest } = await currentManifest(site);
  const [lease, [oldest]] = await Promise.all([site.lease(), site.deltas(head.appliedSeq + 1, 1)]);
  return {
    collection: site.collection,
    status: fence.status === "diverged" ? "diverged" : "active",
    settings: fence.settings,
    version: head.version,
    committedAt: head.committedAt,
    lastSeq: log.nextSeq - 1,
    appliedSeq: head.appliedSeq,
    pendingDeltas: log.nextSeq - 1 - head.appliedSeq,
    pendingBytes: log.bytes - head.appliedBytes,
    oldestPendingMs: oldest === undefined ? 0 : Math.max(0, site.deps.clock.now() - oldest.committedAt),
    deadDeltas: manifest.dead.length,
    liveRows: manifest.stats.live,
    bytes: manifest.stats.bytes,
    segments: manifest.segments.map((entry) => ({
      key: entry.key,
      rows: entry.rows,
      live: liveOf(entry),
      bytes: entry.bytes,
    })),
    lease: { owner: lease.owner, epoch: lease.epoch },
  };
}
