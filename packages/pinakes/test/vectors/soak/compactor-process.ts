/** A process that compacts and collects garbage until it is killed, as the background of a server does, only without a pause. */
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../simulation/random.ts";
import { collection, scope } from "./drafts.ts";
import { isBusy, report, runProcess } from "./process-kit.ts";
import { openPlace } from "./place.ts";

await runProcess(async ({ place, skewMs, seed, life }) => {
  const { vectors, sweep } = await openPlace(place, { skewMs });
  const random = new Random(seed + life);
  const own = { fenced: 0, collected: 0, workBusy: 0 };
  report({ ready: true });
  for (;;) {
    try {
      await sweep();
      // The registry defers collections by the clock, which may be an hour wrong here: so also by hand.
      if (random.chance(0.3)) own.collected += (await vectors.collect(scope, collection)).objects;
      if (random.chance(0.1) && (await vectors.compact(scope, collection, { all: true })).outcome === "fenced")
        own.fenced += 1;
    } catch (error) {
      if (!isBusy(error)) throw error;
      own.workBusy += 1;
    }
    const { folds, merges, fencedCommits, objectsCollected } = vectors.metrics();
    report({
      counts: {
        folds,
        merges,
        fenced: fencedCommits + own.fenced,
        collected: objectsCollected + own.collected,
        workBusy: own.workBusy,
      },
    });
    await sleep(random.int(0, 30));
  }
});
