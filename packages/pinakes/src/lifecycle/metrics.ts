/** Metrics of this process. */
export interface LifecycleMetrics {
  begun: number;
  ended: number;
  /** Messages sent to stores. */
  sent: number;
  /** Requests answered by stores of this process. */
  handled: number;
  /** Replies without effect: duplicate, late, or of an unknown operation. */
  dropped: number;
  malformed: number;
  /** Incarnations without a record, removed. */
  orphansRemoved: number;
  /** As of the last sweep, over all tenants; `oldestMs`: age of the oldest delete. */
  unfinished: { readonly running: number; readonly failed: number; readonly oldestMs: number };
}

export function newMetrics(): LifecycleMetrics {
  return {
    begun: 0,
    ended: 0,
    sent: 0,
    handled: 0,
    dropped: 0,
    malformed: 0,
    orphansRemoved: 0,
    unfinished: { running: 0, failed: 0, oldestMs: 0 },
  };
}
