import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { sharedMemory } from "../kernels/kernels.ts";
import { randomVectors } from "../search/testing.ts";
import { Means } from "./ivf-means.ts";
import { quantize } from "./quantize.ts";
import { help, SharedRows, type HelpOrder, type RowArguments } from "./shared-rows.ts";

const [rows, lists, dims] = [5_000, 64, 32];
const near = 16;

/** Random rows, the first of them as centroids, and for each list some lists to search in. */
function prepared(callForHelp?: (order: HelpOrder) => void): {
  shared: SharedRows;
  means: Means;
  all: RowArguments;
  some: RowArguments;
} {
  const nearAt = Means.bytesOf(rows, lists, dims);
  const memory = sharedMemory(nearAt + lists * near * 4);
  const means = new Means(memory, 0, rows, lists, dims);
  const { codes } = quantize(randomVectors(rows, dims, 9), rows, dims, "dot");
  for (let row = 0; row < rows; row += 1) means.setRow(row, codes, row);
  for (let list = 0; list < lists; list += 1) means.seed(list, list);
  new Uint32Array(memory.buffer, nearAt, lists * near).forEach((_, i, numbers) => {
    numbers[i] = (Math.floor(i / near) + 4 * (i % near)) % lists;
  });
  const shared = new SharedRows(memory, callForHelp);
  const given = [...means.rows(rows), ...means.centroids] as const;
  return {
    shared,
    means,
    all: [...given, lists, means.assigned.byteOffset],
    some: [...given, nearAt, near, means.assigned.byteOffset],
  };
}

/** By plain code: the best of all lists. */
function plain(means: Means, row: number): number {
  const scores = Array.from({ length: lists }, (_, list) => {
    let score = means.centroidBias[list] as number;
    for (let d = 0; d < dims; d += 1)
      score +=
        (means.codes[row * dims + d] as number) *
        (means.scale[row] as number) *
        (means.totals[list * dims + d] as number);
    return score;
  });
  return scores.indexOf(Math.max(...scores));
}

describe("loops over rows", () => {
  const helpers: Worker[] = [];
  afterAll(() => Promise.all(helpers.map((helper) => helper.terminate())));
  const thread = (order: HelpOrder): void => {
    const helper = new Worker(new URL("../build/build-thread.ts", import.meta.url));
    helpers.push(helper);
    helper.postMessage({ help: order });
  };

  it("find the nearest centroid of all, or of the listed ones, as plain code does", () => {
    const { shared, means, all, some } = prepared();
    shared.run("assign", all);
    const first = means.assigned.slice();
    let differ = 0;
    for (let row = 0; row < rows; row += 50) if (plain(means, row) !== first[row]) differ += 1;
    // Centroids have 7 bits here and are floats there: a tie may be broken differently.
    expect(differ).toBeLessThan(rows / 50 / 10);
    shared.run("assignNear", some);
    for (const [row, list] of means.assigned.entries()) expect((list - (first[row] as number) + lists) % 4).toBe(0);
    shared.close();
  });

  it("have the same result with and without a helper, over many rounds", () => {
    const alone = prepared();
    const helped = prepared(thread);
    for (let round = 0; round < 200; round += 1) {
      const kernel = round % 2 === 0 ? "assign" : "assignNear";
      for (const { shared, all, some } of [alone, helped]) shared.run(kernel, kernel === "assign" ? all : some);
      if (
        Buffer.compare(
          Buffer.from(alone.means.assigned.slice().buffer),
          Buffer.from(helped.means.assigned.slice().buffer),
        ) !== 0
      )
        throw new Error(`round ${round} differs`);
    }
    alone.shared.close();
    helped.shared.close();
  });

  it("work without a helper that comes after the end", () => {
    let late: HelpOrder | undefined;
    const { shared, all, means } = prepared((order) => {
      late = order;
    });
    shared.run("assign", all);
    expect(means.assigned.some((list) => list > 0)).toBe(true);
    shared.close();
    help(late as HelpOrder); // Returns at once.
  });
});
