/** Throttles repeated work: runs soon after the first call, then at intervals, and never concurrently. */
interface Turns {
  /** Delay from the first call to its run. */
  readonly soonMs: number;
  /** Minimum pause between runs. */
  readonly againMs: number;
}

/** Returns the function to call. Calls during a run schedule another one. */
export function throttle(work: () => Promise<void>, { soonMs, againMs }: Turns): () => void {
  let wanted = false;
  let busy = false;
  const turn = async () => {
    wanted = false;
    try {
      await work();
    } finally {
      setTimeout(rested, againMs);
    }
  };
  const rested = () => {
    if (wanted) void turn();
    else busy = false;
  };
  return () => {
    wanted = true;
    if (busy) return;
    busy = true;
    setTimeout(() => void turn(), soonMs);
  };
}
