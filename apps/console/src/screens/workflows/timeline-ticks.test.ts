import { describe, expect, it } from "vitest";
import { ticksOf } from "./timeline-drawing.tsx";

const noon = new Date(2026, 10, 16, 12, 0, 0).getTime();

describe("the times below a timeline", () => {
  it("within a day the clock alone", () => {
    expect(ticksOf({ from: noon, to: noon + 40_000 })).toEqual([
      { share: 0, label: "12:00:00" },
      { share: 0.25, label: "12:00:10" },
      { share: 0.5, label: "12:00:20" },
      { share: 0.75, label: "12:00:30" },
      { share: 1, label: "12:00:40" },
    ]);
  });

  it("over days the day too", () => {
    const labels = ticksOf({ from: noon, to: noon + 4 * 86_400_000 }).map(({ label }) => label);
    expect([labels[0], labels.at(-1)]).toEqual(["16 Nov, 12:00", "20 Nov, 12:00"]);
  });

  it("a workflow that has not begun has one time, and a second has two", () => {
    expect(ticksOf({ from: noon, to: noon })).toEqual([{ share: 0, label: "12:00:00" }]);
    expect(ticksOf({ from: noon, to: noon + 1_000 }).map(({ label }) => label)).toEqual(["12:00:00", "12:00:01"]);
  });
});
