import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { countEverywhere } from "./count-elsewhere.ts";

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

const elsewhereOf = async (...args: Parameters<typeof countEverywhere>) => (await countEverywhere(...args)).elsewhere;

describe("counting words in several collections", () => {
  it("gives each the sum of all others", async () => {
    expect(await elsewhereOf(["a", "b", "c"], count)).toEqual(
      new Map([
        ["a", counts(4, 16, { zebra: 1, drink: 1, lion: 3 })],
        ["b", counts(13, 109, { zebra: 2, drink: 6, lion: 3 })],
        ["c", counts(11, 107, { zebra: 3, drink: 5 })],
      ]),
    );
  });

  it("gives a single collection nothing of others, and adds nothing for an empty or missing one; the total covers all", async () => {
    const never = async (): Promise<TermCounts> => Promise.reject(new Error("unexpected count"));
    expect(await countEverywhere([], never)).toEqual({ all: counts(0, 0, {}), elsewhere: new Map() });
    expect(await countEverywhere(["a"], count)).toEqual({ all: library["a"], elsewhere: new Map() });
    const elsewhere = await elsewhereOf(["a", "empty", "gone"], count);
    expect(elsewhere).toEqual(
      new Map([
        ["a", counts(0, 0, {})],
        ["empty", library["a"]],
        ["gone", library["a"]],
      ] as const),
    );
  });

  it("leaves out a collection that cannot be counted, whose own search reports it, and rethrows errors of the query", async () => {
    const broken = async (name: string): Promise<TermCounts> => {
      if (name === "a") throw new PinakesError("CORRUPT", "The file is damaged.");
      return count(name);
    };
    expect((await elsewhereOf(["a", "b"], broken)).get("a")).toEqual(library["b"]);
    const refused = async (): Promise<TermCounts> => Promise.reject(new PinakesError("INVALID", "text: is too long."));
    await expect(elsewhereOf(["a", "b"], refused)).rejects.toMatchObject({ code: "INVALID" });
  });
});
