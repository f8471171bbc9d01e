import { describe, expect, it } from "vitest";
import { kernelsUpToDate } from "../../../../../scripts/kernels.ts";
import { scratchAddress, segmentOf } from "../segment/load-segment.ts";
import type { Metric } from "../row.ts";
import { flatSegment, plainScore, randomVectors } from "../search/testing.ts";
import { codeStrideOf, scratchOf, writeContext } from "./context.ts";
import { kernelsFor } from "./kernels.ts";

const metrics: readonly Metric[] = ["cosine", "dot", "l2"];

it("the committed binary equals a build of its source", async () => {
  expect(await kernelsUpToDate()).toBe(true);
});

describe.each(metrics)("kernels, %s", (metric) => {
  it.each([2, 3, 31, 384, 4096])("score %i dimensions as plain code does", (dims) => {
    const rows = 9;
    const vectors = randomVectors(rows, dims, dims);
    vectors.fill(0, 0, dims); // a zero vector
    const vector = randomVectors(1, dims, 7);
    const loaded = flatSegment(vectors, dims, metric);
    const segment = segmentOf(loaded);
    const kernels = kernelsFor(loaded.memory);
    const ctx = scratchAddress(loaded, 0);
    const scratch = scratchOf(loaded.header);
    writeContext(segment, ctx);
    new Float32Array(segment.buffer, ctx + scratch.query, dims).set(vector);
    expect(kernels.searchRows(ctx, rows, false)).toBe(rows);

    const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    const codes = new Uint8Array(segment.buffer, ctx + scratch.codes, codeStrideOf(dims));
    vector.forEach((value, i) =>
      expect(Math.abs((codes[i] as number) - 64 - (value * 63) / most)).toBeLessThanOrEqual(0.5001),
    );
    expect(codes.every((code) => code <= 127)).toBe(true);

    const view = new DataView(segment.buffer, ctx);
    const queryScale = view.getFloat32(108, true);
    const [i8, scale, bias, sum] = [
      segment.i8("vectors.i8"),
      segment.f32("vectors.scale"),
      segment.f32("vectors.bias"),
      segment.i32("vectors.sum"),
    ];
    for (let row = 0; row < rows; row += 1) {
      let product = 0;
      for (let i = 0; i < dims; i += 1)
        product += (i8[row * codeStrideOf(dims) + i] as number) * ((codes[i] as number) - 64);
      const expected = Math.fround(
        Math.fround(Math.fround((scale[row] as number) * Math.fround(product)) * queryScale) + (bias[row] as number),
      );
      expect(int8Scores(row)).toEqual([expected, expected, expected]);
      expect(sum[row]).toBe(
        i8.subarray(row * codeStrideOf(dims), (row + 1) * codeStrideOf(dims)).reduce((all, code) => all + code, 0),
      );
      const exact = plainScore(metric, vectors.subarray(row * dims, (row + 1) * dims), vector);
      expect(kernels.exactScore(ctx, row)).toBeCloseTo(exact, 3);
    }

    /** The score of one row by range (in the middle of four and alone) and by list, read from a heap of one. */
    function int8Scores(row: number): number[] {
      const list = ctx + scratch.chunk;
      new Uint32Array(segment.buffer, list, 4).fill(row);
      return [
        () => kernels.scanRange(ctx, row, row + 1),
        () => kernels.scanRows(ctx, list, 1),
        () => kernels.scanRows(ctx, list, 4),
      ].map((scan) => {
        view.setUint32(96, 0, true);
        view.setUint32(100, 1, true);
        view.setFloat32(104, -Infinity, true);
        scan();
        return view.getFloat32(104, true);
      });
    }
  });
});
