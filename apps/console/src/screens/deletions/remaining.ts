/** What stores still have. One that did not count yet may have anything: it is shown as unknown, never as a zero. */
import type { StoreProgress } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";

/** Null where a store did not count: a sum of the others would look as if it were all. */
export function remainingOf(stores: readonly Pick<StoreProgress, "remaining">[]): number | null {
  let sum = 0;
  for (const { remaining } of stores) {
    if (remaining === null) return null;
    sum += remaining;
  }
  return sum;
}

export function remainingText(remaining: number | null): string {
  return remaining === null ? "–" : formatNumber(remaining);
}
