import { expect, it } from "vitest";
import { timeOrderedId } from "./time-ordered-id.ts";

it("creates version 7 ids that sort by time", () => {
  const ids = [1, 2 ** 20, Date.UTC(2026, 0, 1)].map(timeOrderedId);
  expect(ids).toEqual(ids.toSorted());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
