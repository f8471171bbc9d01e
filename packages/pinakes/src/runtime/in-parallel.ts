/**
 * Bounded concurrency: works on at most `atOnce` items at the same time and returns the results in the order of the items. The first
 * failure stops it: running work is awaited, and no further work starts.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = Array.from({ length: items.length });
  let next = 0;
  let failed = false;
  const run = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as Item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, run));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return results;
}
