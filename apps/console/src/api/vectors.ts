import type { CollectionUsage, Compaction, Manifest } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { get, post } from "./request.ts";

export function manifestOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["collection", id.rid, id.cid, "manifest"],
    queryFn: ({ signal }) => get<Manifest>(`${collectionPath(id)}/manifest`, { signal }),
    // The server also compacts in the background: polls while deltas are pending or a compaction runs.
    refetchInterval: ({ state }) => (isCompacting(state.data) ? compactingRefetchMs : false),
  });
}

const compactingRefetchMs = 2000;

function isCompacting(manifest: Manifest | undefined): boolean {
  const stats = manifest?.stats;
  return stats !== undefined && stats !== null && (stats.pendingDeltas > 0 || stats.lease.owner !== null);
}

export function usageOptions(id: CollectionId) {
  return queryOptions({
    // Recounting is expensive: not refetched on document progress.
    queryKey: ["usage", id.rid, id.cid],
    queryFn: ({ signal }) => get<CollectionUsage>(`${collectionPath(id)}/usage`, { signal }),
  });
}

export function compact(id: CollectionId): Promise<Compaction> {
  return post<Compaction>(`${collectionPath(id)}:compact`);
}
