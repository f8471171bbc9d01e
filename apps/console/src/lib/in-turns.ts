/** Work that is asked for again and again: done soon after the first time, then once in a while, and never twice at once. */
interface Turns {
  /** From the first time it is asked for until it begins. */
  readonly soonMs: number;
  /** From its end until it may begin again. */
  readonly againMs: number;
}

/** Returns how to ask for it. What is asked for while it is done is done in the next turn. */
export function inTurns(work: () => Promise<void>, { soonMs, againMs }: Turns): () => void {
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
