/** What the vectors of a collection are made of, and what it holds all in all. */
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { get, post } from "./request.ts";

export interface Segment {
  readonly key: string;
  readonly rows: number;
  readonly live: number;
  readonly bytes: number;
}

export interface VectorStats {
  readonly status: string;
  readonly settings: { readonly dims: number; readonly metric: string; readonly language: string };
  readonly version: number;
  readonly committedAt: number;
  readonly lastSeq: number;
  readonly appliedSeq: number;
  readonly pendingDeltas: number;
  readonly pendingBytes: number;
  readonly oldestPendingMs: number;
  readonly deadDeltas: number;
  readonly liveRows: number;
  readonly bytes: number;
  readonly segments: readonly Segment[];
  readonly lease: { readonly owner: string | null; readonly epoch: number };
}

export interface VectorVersion {
  readonly version: number;
  readonly committedAt: number;
  readonly reason: string;
  readonly writer: string;
  readonly appliedSeq: number;
  readonly live: number;
  readonly segments: number;
  readonly bytes: number;
}

interface VectorsMade {
  readonly stats: VectorStats;
  readonly versions: readonly VectorVersion[];
  readonly count: number;
}

/** `stats` and `versions` are those of the passages; without passages, of the rows that callers embedded themselves. */
export interface Manifest {
  readonly stats: VectorStats | null;
  readonly versions: readonly VectorVersion[];
  readonly passages: VectorsMade | null;
  readonly rows: VectorsMade | null;
}

interface Counted {
  readonly document_count: number;
  readonly total_size_bytes: number;
  readonly chunk_count: number;
}

export interface Usage extends Counted {
  readonly recounted: Counted;
  readonly consistent: boolean;
  readonly repaired: boolean;
  readonly triples: number;
  readonly stores: Readonly<Record<string, number>>;
}

export interface Compaction {
  readonly outcome: string;
  readonly folds?: number;
  readonly merges?: number;
  readonly rowsWritten?: number;
}

export function manifestOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["collection", id.rid, id.cid, "manifest"],
    queryFn: ({ signal }) => get<Manifest>(`${collectionPath(id)}/manifest`, { signal }),
    // The server compacts on its own, too: what is pending or being compacted is asked again until it is in a segment.
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
    // Counting anew takes the server a while: not asked again for each document that moves on.
    queryKey: ["usage", id.rid, id.cid],
    queryFn: ({ signal }) => get<Usage>(`${collectionPath(id)}/usage`, { signal }),
  });
}

export function compact(id: CollectionId): Promise<Compaction> {
  return post<Compaction>(`${collectionPath(id)}:compact`);
}
