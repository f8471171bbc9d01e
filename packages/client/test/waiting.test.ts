import { expect, it } from "vitest";
import { retryPauseMs } from "../src/waiting.ts";

it("R-AGT-93 a repeated request waits at least as long as the server asks, and each client a different time", () => {
  for (const [attempt, asked] of [
    [0, undefined],
    [0, 1_000],
    [3, 2_500],
    [20, 60_000],
  ] as const) {
    const pauses = Array.from({ length: 1_000 }, () => retryPauseMs(attempt, asked));
    const least = asked ?? 0;
    const spread = Math.min(5_000, 100 * 2 ** attempt);
    for (const pause of pauses) {
      expect(pause).toBeGreaterThanOrEqual(least);
      expect(pause).toBeLessThan(least + spread);
    }
    expect(new Set(pauses).size).toBeGreaterThan(900);
    // Over the whole spread, not around one time.
    for (const quarter of [0, 1, 2, 3])
      expect(pauses.filter((pause) => Math.floor((4 * (pause - least)) / spread) === quarter).length).toBeGreaterThan(
        100,
      );
  }
});
