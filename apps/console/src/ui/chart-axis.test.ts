import { describe, expect, it } from "vitest";
import { axisTime, hasFractions, pointTime } from "./recharts.tsx";

const hourMs = 3_600_000;
/** In local time, as the page shows them. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).toISOString();
const points = (...times: readonly string[]) => times.map((time) => ({ at: time }));

describe("times of a chart", () => {
  it("one point has its date, and says from when to when it is", () => {
    const one = { points: points(at(16, 12)), stepMs: 6 * hourMs };
    expect(axisTime(one)(at(16, 12))).toBe("16 Nov, 12:00");
    expect(pointTime(one)(at(16, 12))).toMatch(/^16 Nov,? 12:00\s?–\s?18:00$/);
    expect(axisTime({ points: one.points, stepMs: hourMs })(at(16, 12))).toBe("16 Nov, 12:00");
  });

  it("hours do for a few hours, dates for many days", () => {
    expect(axisTime({ points: points(at(16, 12), at(16, 13)), stepMs: hourMs })(at(16, 12))).toBe("12:00");
    expect(axisTime({ points: points(at(16, 12), at(16, 12, 1)) })(at(16, 12))).toBe("12:00");
    expect(axisTime({ points: points(at(10, 12), at(16, 12)) })(at(16, 12))).toBe("16 Nov");
    expect(axisTime({ points: points(at(10, 12), at(16, 12)), stepMs: 6 * hourMs })(at(16, 12))).toBe("16 Nov, 12:00");
    expect(axisTime({ points: points(at(16, 0)), stepMs: 24 * hourMs })(at(16, 0))).toBe("16 Nov");
  });

  it("a label that is no time stays what it is", () => {
    expect([
      axisTime({ points: points("first run") })("first run"),
      pointTime({ points: [], stepMs: 1 })("first run"),
    ]).toEqual(["first run", "first run"]);
  });
});

it("counts have no fractions, nor has what reaches two; less than two has, unless it adds up", () => {
  const series = [
    { key: "a", label: "A" },
    { key: "b", label: "B" },
  ];
  const of = (a: number, b: number | null) => ({ points: [{ at: "x", a, b }], series });
  expect(hasFractions(of(0.5, 1.9))).toBe(true);
  expect(hasFractions(of(0.5, null))).toBe(true);
  expect(hasFractions({ ...of(1, 1), whole: true })).toBe(false);
  expect(hasFractions(of(2, 0.1))).toBe(false);
  expect(hasFractions({ ...of(1, 1), stacked: true })).toBe(false);
});
