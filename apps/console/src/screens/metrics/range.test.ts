import { describe, expect, it } from "vitest";
import { isShortened, rangeSearch, timeRangeOf } from "./range.ts";

const now = Date.parse("2026-11-16T13:00:00Z");

describe("time ranges in the address", () => {
  it("ends now when it is named, a week when it is not", () => {
    expect(timeRangeOf({ range: "day" }, now)).toMatchObject({
      from: "2026-11-15T13:00:00.000Z",
      to: "2026-11-16T13:00:00.000Z",
    });
    expect(timeRangeOf({}, now)).toMatchObject({ from: "2026-11-09T13:00:00.000Z" });
  });

  it("includes both days of a custom range, and never runs backwards", () => {
    expect(timeRangeOf({ range: "custom", from: "2026-11-01", to: "2026-11-02" }, now)).toMatchObject({
      from: "2026-11-01T00:00:00.000Z",
      to: "2026-11-03T00:00:00.000Z",
    });
    expect(timeRangeOf({ range: "custom", from: "2026-12-01", to: "2026-11-02" }, now)).toMatchObject({
      from: "2026-11-02T00:00:00.000Z",
      to: "2026-11-03T00:00:00.000Z",
    });
  });

  it("shows 400 days at once, and says when it was asked for more", () => {
    const whole = { range: "custom", from: "2025-01-01", to: "2026-02-04" } as const;
    expect(timeRangeOf(whole, now)).toMatchObject({ to: "2026-02-05T00:00:00.000Z", lengthMs: 400 * 86_400_000 });
    expect(isShortened(whole, now)).toBe(false);
    const more = { ...whole, to: "2026-02-05" };
    expect(timeRangeOf(more, now)).toMatchObject({ from: "2025-01-01T00:00:00.000Z", to: "2026-02-05T00:00:00.000Z" });
    expect(isShortened(more, now)).toBe(true);
    expect(isShortened({ range: "custom", from: "2001-01-01" }, now)).toBe(true);
    expect(isShortened({ from: "2001-01-01" }, now)).toBe(false);
  });

  it("drops what is no date and no range", () => {
    expect(rangeSearch({ range: "for ever", from: "yesterday", to: "2026-99-99" })).toEqual({
      range: undefined,
      from: undefined,
      to: undefined,
    });
  });
});
