import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { countElsewhere } from "./count-elsewhere.ts";

const counts = (rows: number, tokens: number, frequencies: Record<string, number>): TermCounts => ({
  rows,
  tokens,
  frequencies: new Map(Object.entries(frequencies)),
});

const library: Readonly<Record<string, TermCounts>> = {
  a: counts(10, 100, { zebra: 2, drink: 5 }),
  b: counts(1, 7, { zebra: 1 }),
  c: counts(3, 9, { drink: 1, lion: 3 }),
  empty: counts(0, 0, {}),
};

async function count(name: string): Promise<TermCounts> {
  const known = library[name];
  if (known === undefined) throw new PinakesError("NOT_FOUND", `There is no ${name}.`);
  return known;
}

describe("counting words in several collections", () => {
  it("gives each the sum of all the others", async () => {
    expect(await countElsewhere(["a", "b", "c"], count)).toEqual(
      new Map([
        ["a", counts(4, 16, { zebra: 1, drink: 1, lion: 3 })],
        ["b", counts(13, 109, { zebra: 2, drink: 6, lion: 3 })],
        ["c", counts(11, 107, { zebra: 3, drink: 5 })],
      ]),
    );
  });

  it("counts nothing for one collection, which nobody asks, and adds nothing for an empty one or one that is not there", async () => {
    const never = async (): Promise<TermCounts> => Promise.reject(new Error("nobody should count"));
    expect(await countElsewhere([], never)).toEqual(new Map());
    expect(await countElsewhere(["a"], never)).toEqual(new Map());
    const told = await countElsewhere(["a", "empty", "gone"], count);
    expect(told).toEqual(
      new Map([
        ["a", counts(0, 0, {})],
        ["empty", library["a"]],
        ["gone", library["a"]],
      ] as const),
    );
  });

  it("hands on every other error", async () => {
    const broken = async (): Promise<TermCounts> => Promise.reject(new PinakesError("UNAVAILABLE", "The store does not answer; try again."));
    await expect(countElsewhere(["a", "b"], broken)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
