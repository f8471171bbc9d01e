/**
 * Rows as int8 codes and the centroids of their lists as 7-bit codes, in memory that the kernels reach: what one round of k-means works on.
 * A centroid is quantised as a query is; its bias makes the best score that of the nearest centroid.
 */
import { codeStrideOf } from "../kernels/context.ts";
import { align, type KernelCentroids, type KernelRows, type Kernels, type WasmMemory } from "../kernels/kernels.ts";
import type { Codes } from "./quantize.ts";

export class Means {
  readonly lists: number;
  readonly dims: number;
  readonly stride: number;
  readonly codes: Int8Array;
  readonly scale: Float32Array;
  readonly sum: Int32Array;
  /** The list of each row. */
  readonly assigned: Uint32Array;
  /** Of the rows of each list, by the last `accumulate`. */
  readonly totals: Float32Array;
  readonly counts: Uint32Array;
  readonly #centroids: Uint8Array;
  readonly #centroidScale: Float32Array;
  /** −|centroid|² / 2 of each list. */
  readonly centroidBias: Float32Array;

  /** The memory it needs. */
  static bytesOf(rows: number, lists: number, dims: number): number {
    return places(rows, lists, dims).end;
  }

  /** @param base where its part of the memory begins, a multiple of 64 */
  constructor(memory: WasmMemory, base: number, rows: number, lists: number, dims: number) {
    const { starts } = places(rows, lists, dims);
    const at = (i: number): [ArrayBufferLike, number] => [memory.buffer, base + (starts[i] as number)];
    this.lists = lists;
    this.dims = dims;
    this.stride = codeStrideOf(dims);
    this.codes = new Int8Array(...at(0), rows * this.stride);
    this.scale = new Float32Array(...at(1), rows);
    this.sum = new Int32Array(...at(2), rows);
    this.assigned = new Uint32Array(...at(3), rows);
    this.#centroids = new Uint8Array(...at(4), lists * this.stride).fill(64);
    this.#centroidScale = new Float32Array(...at(5), lists);
    this.centroidBias = new Float32Array(...at(6), lists);
    this.totals = new Float32Array(...at(7), lists * this.stride);
    this.counts = new Uint32Array(...at(8), lists);
  }

  /** The addresses of rows first … first + rows − 1. */
  rows(rows: number, first = 0): KernelRows {
    return [
      this.codes.byteOffset + first * this.stride,
      this.scale.byteOffset + first * 4,
      this.sum.byteOffset + first * 4,
      rows,
      this.stride,
    ];
  }

  get centroids(): KernelCentroids {
    return [this.#centroids.byteOffset, this.#centroidScale.byteOffset, this.centroidBias.byteOffset];
  }

  /** Row `at` becomes row `row` of the codes. */
  setRow(at: number, codes: Codes, row: number): void {
    const { stride } = this;
    this.codes.set(codes.i8.subarray(row * stride, (row + 1) * stride), at * stride);
    this.scale[at] = codes.scale[row] as number;
    this.sum[at] = codes.sum[row] as number;
  }

  /** The centroid of a list becomes row `row`. */
  seed(list: number, row: number): void {
    const scale = this.scale[row] as number;
    for (let i = 0; i < this.stride; i += 1)
      this.totals[list * this.stride + i] = (this.codes[row * this.stride + i] as number) * scale;
    this.#setCentroid(list, 1);
  }

  /** Every centroid becomes the mean of its rows; `empty` is called for one without rows. */
  move(kernels: Kernels, rows: number, empty: (list: number) => void): void {
    this.accumulate(kernels, rows);
    for (let list = 0; list < this.lists; list += 1) {
      const count = this.counts[list] as number;
      if (count === 0) empty(list);
      else this.#setCentroid(list, 1 / count);
    }
  }

  /** Sums and counts of the rows by list. */
  accumulate(kernels: Kernels, rows: number): void {
    this.totals.fill(0);
    this.counts.fill(0);
    const { codes, scale, stride, assigned, totals, counts } = this;
    kernels.accumulate(
      codes.byteOffset,
      scale.byteOffset,
      rows,
      stride,
      assigned.byteOffset,
      totals.byteOffset,
      counts.byteOffset,
    );
  }

  /** The centroids as rows of another level: the same codes, signed. */
  copyCentroidsTo(rows: Means): void {
    for (let list = 0; list < this.lists; list += 1) {
      let sum = 0;
      for (let i = list * this.stride; i < (list + 1) * this.stride; i += 1) {
        const code = (this.#centroids[i] as number) - 64;
        rows.codes[i] = code;
        sum += code;
      }
      rows.scale[list] = this.#centroidScale[list] as number;
      rows.sum[list] = sum;
    }
  }

  /** Totals · factor. */
  #setCentroid(list: number, factor: number): void {
    const at = list * this.stride;
    let most = 0;
    let squares = 0;
    for (let i = at; i < at + this.dims; i += 1) {
      const value = (this.totals[i] as number) * factor;
      squares += value * value;
      most = Math.max(most, Math.abs(value));
    }
    this.#centroidScale[list] = most / 63;
    this.centroidBias[list] = -squares / 2;
    const step = most === 0 ? 0 : (63 * factor) / most;
    for (let i = at; i < at + this.dims; i += 1)
      this.#centroids[i] = 64 + Math.round((this.totals[i] as number) * step);
  }
}

/** The offsets of the arrays of the constructor, and their total size in bytes. */
function places(rows: number, lists: number, dims: number): { starts: number[]; end: number } {
  const stride = codeStrideOf(dims);
  const starts: number[] = [];
  let end = 0;
  for (const bytes of [
    rows * stride,
    rows * 4,
    rows * 4,
    rows * 4,
    lists * stride,
    lists * 4,
    lists * 4,
    lists * stride * 4,
    lists * 4,
  ]) {
    starts.push(end);
    end = align(end + bytes);
  }
  return { starts, end };
}
