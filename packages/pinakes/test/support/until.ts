/** Waits for an expected condition; the test's own time limit is the only one. */
import { setTimeout as sleep } from "node:timers/promises";

export async function until<T>(look: () => Promise<T | undefined | false>, everyMs = 10): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(everyMs);
  }
}
