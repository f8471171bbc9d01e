import { expect, it } from "vitest";
import { migrationLimits } from "./limits.ts";
import { telling, reporting } from "./progress.ts";
import type { Work } from "./worker.ts";

function watched(): { readonly work: Work; readonly reported: number[]; now: number } {
  const watch = { reported: [] as number[], now: 0, work: undefined as unknown as Work };
  const tell: Work["tell"] = async (progress) => void watch.reported.push(progress?.done ?? -1);
  watch.work = { deps: { clock: { now: () => watch.now } }, tell } as unknown as Work;
  return watch;
}
const unit = { name: "table", number: 1, count: 9 };

it("reports after a number of rows or a while, and otherwise returns nothing to wait for", async () => {
  const watch = watched();
  const progress = telling(watch.work, unit);
  expect(progress(4_999)).toBe(undefined);
  await progress(5_000);
  expect(progress(9_999)).toBe(undefined);
  watch.now = migrationLimits.beatMs - 1;
  expect(progress(5_001)).toBe(undefined);
  watch.now = migrationLimits.beatMs;
  // A single long row has no further progress.
  await progress();
  expect(watch.reported).toEqual([5_000, 5_000]);
  expect(migrationLimits.beatMs).toBeLessThan(migrationLimits.leaseMs / 2);
});

it("a second count from the first row is reported again", async () => {
  const watch = watched();
  const progress = telling(watch.work, unit);
  await progress(6_000);
  expect(progress(1)).toBe(undefined);
  await progress(5_000);
  expect(watch.reported).toEqual([6_000, 5_000]);
});

it("rows pass through unchanged, and a lost lease ends the reading", async () => {
  const rows = async function* () {
    yield* ["a", "b", "c"];
  };
  const seen: string[] = [];
  const counts: (number | undefined)[] = [];
  const count = (n?: number) => {
    counts.push(n);
    return undefined;
  };
  for await (const row of reporting(rows(), count)) seen.push(row);
  expect([seen, counts]).toEqual([
    ["a", "b", "c"],
    [1, 2, 3],
  ]);
  const lost = async () => {
    for await (const _ of reporting(rows(), async () => Promise.reject(new Error("lost")))) seen.push("again");
  };
  await expect(lost()).rejects.toThrow("lost");
  expect(seen).toEqual(["a", "b", "c", "again"]);
});
