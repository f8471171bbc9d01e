import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tripleLimits } from "../../../triples/triple-limits.ts";
import { Ranks } from "./sorted-rows.ts";

const orders = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
  [0, 1, 2, 3],
  [3, 1, 2, 0],
];

function expected(ids: readonly number[], rows: readonly number[][], columns: readonly number[]): number[] {
  const picked = rows.map((row) => columns.map((column) => ids[row[column] as number] as number));
  const distinct = [...new Map(picked.map((row) => [row.join(), row])).values()];
  return distinct
    .toSorted((a, b) => a.map((value, i) => value - (b[i] as number)).find((difference) => difference !== 0) ?? 0)
    .flat();
}

describe("rows in the order of an index", () => {
  it("equal a plain sort, each once", () => {
    const distinctIds = fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 40 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        distinctIds,
        fc.array(fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), { maxLength: 40 }),
        (terms, places) => {
          const ids = [0, ...terms];
          const rows = places.map((row) => row.map((place) => place % ids.length));
          const ranks = new Ranks(Float64Array.from(ids));
          for (const columns of orders) {
            const flat = Uint32Array.from(rows.flat());
            const sorted = columns.length === 3 ? ranks.triples(flat, columns) : ranks.quads(flat, columns);
            expect([...sorted]).toEqual(expected(ids, rows, columns));
          }
        },
      ),
    );
  });

  it("are exact in the largest batch, and rejected past it", () => {
    const most = tripleLimits.writeQuadsMax * 4 + 1;
    const ids = Float64Array.from({ length: most }, (_, i) => i);
    const ranks = new Ranks(ids);
    const last = most - 1;
    const rows = Uint32Array.from([last, last, last, 0, last, last, last - 1, 0]);
    expect([...ranks.triples(rows, [0, 1, 2])]).toEqual([last, last, last - 1, last, last, last]);
    expect(() => new Ranks(new Float64Array(most + 1))).toThrow("more terms");
  });
});
