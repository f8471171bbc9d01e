/** Numbers of this process. */
export interface LifecycleMetrics {
  begun: number;
  ended: number;
  /** Messages sent to stores. */
  sent: number;
  /** Requests that stores of this process answered. */
  handled: number;
  /** Replies that changed nothing: doubled, late, or of nobody's operation. */
  dropped: number;
  malformed: number;
  /** Lives that no record named, removed. */
  orphansRemoved: number;
  /** As the last sweep found them, over all tenants; `oldestMs`: the age of the oldest delete. */
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
