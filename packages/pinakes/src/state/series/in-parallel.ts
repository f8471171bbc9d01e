/** Does things a few at a time. The first failure ends it: what has begun is waited for, nothing else is begun. */
export async function inParallel<Thing>(
  things: readonly Thing[],
  atOnce: number,
  work: (thing: Thing) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const run = async (): Promise<void> => {
    while (next < things.length && !failed) {
      const thing = things[next] as Thing;
      next += 1;
      try {
        await work(thing);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, things.length) }, run));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
