import { expect, it } from "vitest";
import { remainingOf, remainingText } from "./remaining.ts";

it("R-TG-50 what a store did not count yet is a dash, alone and in the sum of all; a zero is what was counted", () => {
  expect([remainingText(null), remainingText(0), remainingText(300_000)]).toEqual(["–", "0", "300,000"]);
  expect(remainingOf([{ remaining: 0 }, { remaining: 2 }])).toBe(2);
  expect(remainingOf([{ remaining: 2 }, { remaining: null }, { remaining: 0 }])).toBeNull();
  expect(remainingOf([])).toBe(0);
});
