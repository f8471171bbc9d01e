import { describe, expect, it } from "vitest";
import { nextRow } from "./row-focus.ts";

describe("keys between the rows of a table", () => {
  it("arrows stay within the rows, Home and End go to the first and the last", () => {
    expect(["ArrowDown", "ArrowUp", "Home", "End"].map((key) => nextRow(key, 1, 3))).toEqual([2, 0, 0, 2]);
    expect([nextRow("ArrowDown", 2, 3), nextRow("ArrowUp", 0, 3)]).toEqual([2, 0]);
  });

  it("other keys are not the table's, and an empty table has none", () => {
    expect([nextRow("Enter", 0, 3), nextRow("PageDown", 0, 3), nextRow("End", 0, 0)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
