import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { clusteredVectors, hardVectors } from "../search/testing.ts";
import { planLists, type Lists } from "./ivf-lists.ts";
import { quantize } from "./quantize.ts";
import type { HelpOrder } from "./shared-rows.ts";

const dims = 32;
const rows = 6_000;

/** The mean of every list, from the floats. */
function meansOf(vectors: Float32Array, { lists, order, offsets }: Lists): Float64Array {
  const means = new Float64Array(lists * dims);
  for (let list = 0; list < lists; list += 1) {
    const [from, to] = [offsets[list] as number, offsets[list + 1] as number];
    for (let i = from; i < to; i += 1) {
      for (let d = 0; d < dims; d += 1)
        means[list * dims + d] =
          (means[list * dims + d] as number) + (vectors[(order[i] as number) * dims + d] as number) / (to - from);
    }
  }
  return means;
}

function distance(vectors: Float32Array, row: number, means: Float64Array, list: number): number {
  let squares = 0;
  for (let d = 0; d < dims; d += 1)
    squares += ((vectors[row * dims + d] as number) - (means[list * dims + d] as number)) ** 2;
  return squares;
}

describe.each([
  ["with topics", clusteredVectors(rows, dims, 5)],
  ["without any", hardVectors(rows, dims, 6)],
])("lists of vectors %s", (_, vectors) => {
  const { codes } = quantize(vectors, rows, dims, "l2");
  const planned = planLists(codes, rows, dims);

  it("have every row once", () => {
    expect(planned.offsets[0]).toBe(0);
    expect(planned.offsets.at(-1)).toBe(rows);
    expect(planned.order.toSorted()).toEqual(Uint32Array.from({ length: rows }, (_unused, i) => i));
  });

  it("are tight: a row's distance to its list's mean is on average hardly more than to the nearest mean of all", () => {
    const means = meansOf(vectors, planned);
    let own = 0;
    let least = 0;
    for (let list = 0; list < planned.lists; list += 1) {
      for (let i = planned.offsets[list] as number; i < (planned.offsets[list + 1] as number); i += 10) {
        const row = planned.order[i] as number;
        own += distance(vectors, row, means, list);
        let nearest = Infinity;
        for (let other = 0; other < planned.lists; other += 1)
          nearest = Math.min(nearest, distance(vectors, row, means, other));
        least += nearest;
      }
    }
    expect(own / least).toBeLessThan(1.05);
  });

  it("are the same with the help of another thread", async () => {
    const helper = new Worker(new URL("../build/build-thread.ts", import.meta.url));
    let asked = 0;
    const helped = planLists(codes, rows, dims, (help: HelpOrder) => {
      asked += 1;
      helper.postMessage({ help });
    });
    await helper.terminate();
    expect(asked).toBe(1);
    expect([helped.order, helped.offsets, helped.centroids]).toEqual([
      planned.order,
      planned.offsets,
      planned.centroids,
    ]);
  });
});
