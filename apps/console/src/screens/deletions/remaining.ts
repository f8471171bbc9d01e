/** Remaining units of stores. A store that has not counted yet is unknown, never zero. */
import type { StoreProgress } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";

/** Null if a store has not counted: a partial sum would be misleading. */
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
