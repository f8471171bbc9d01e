import { describe, expect, it } from "vitest";
import { TurnBudget } from "./turn-budget.ts";

describe("a turn's budget", () => {
  it("yields to the event loop between searches that are awaited one after the other", async () => {
    const budget = new TurnBudget(10);
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    for (let i = 0; i < 40; i += 1) expect(await budget.take(5)).toBe(true);
    counting = false;
    expect(turns).toBeGreaterThanOrEqual(15);
  });

  it("accepts what fits into the turn, lets one wait for the next, and rejects the others", async () => {
    const budget = new TurnBudget(10);
    expect(await Promise.all([6, 4, 6, 6, 6].map((cost) => budget.take(cost)))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(await budget.take(4)).toBe(true);
  });
});
