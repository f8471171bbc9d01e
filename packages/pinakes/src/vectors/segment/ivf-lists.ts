/**
 * Groups rows into lists by k-means, on their int8 codes. Deterministic: the sample and the first centroids come from a fixed seed.
 */
import { codeStrideOf } from "../kernels/context.ts";
import { align, kernelsFor, sharedMemory, type Kernels } from "../kernels/kernels.ts";
import { emptyCodes, quantizeRow, type Codes } from "./quantize.ts";
import { seededRandom } from "./ivf-random.ts";

const sampleRowsPerList = 32;
const iterations = 6;

export interface Lists {
  readonly lists: number;
  /** order[i]: the row that comes at place i, list by list. */
  readonly order: Uint32Array;
  /** List l: places offsets[l] … offsets[l + 1] − 1. */
  readonly offsets: Uint32Array;
  /** What a search scores in place of the lists' rows: their mean. */
  readonly centroids: Codes;
  /** Rows that had no part in forming the centroids, as far as there are. */
  readonly heldOut: (row: number) => boolean;
}

/** A multiple of four, because the kernel compares with four centroids at a time. */
export function listCountOf(rows: number): number {
  return Math.max(4, Math.ceil((2 * Math.sqrt(rows)) / 4) * 4);
}

export function planLists(codes: Codes, rows: number, dims: number, lists = listCountOf(rows)): Lists {
  const random = seededRandom(0x5eed);
  const space = new Space(rows, dims, lists, Math.min(rows, lists * sampleRowsPerList));
  const sample = choose(rows, space.sampleRows, random);
  const sampled = new Uint8Array(rows);
  for (const row of sample) sampled[row] = 1;
  space.fillSample(codes, sample);
  for (let list = 0; list < lists; list += 1) space.seed(list, (list * 7_919) % space.sampleRows);
  for (let i = 0; i < iterations; i += 1) {
    space.assign(space.sampleRows);
    space.move(space.sampleRows, random);
  }
  space.fillAll(codes);
  space.assign(rows);
  return { ...space.result(codes), heldOut: (row) => sampled[row] === 0 };
}

/** `count` different rows. */
function choose(rows: number, count: number, random: () => number): Uint32Array {
  const all = Uint32Array.from({ length: rows }, (_, i) => i);
  for (let i = 0; i < count; i += 1) {
    const j = i + Math.floor(random() * (rows - i));
    const row = all[j] as number;
    all[j] = all[i] as number;
    all[i] = row;
  }
  return all.slice(0, count);
}

/** The memory of one run of k-means: rows, centroids and their sums, where the kernels reach them. */
class Space {
  readonly sampleRows: number;
  readonly #rows: number;
  readonly #dims: number;
  readonly #lists: number;
  readonly #stride: number;
  readonly #kernels: Kernels;
  readonly #codes: Int8Array;
  readonly #scale: Float32Array;
  readonly #sum: Int32Array;
  readonly #assigned: Uint32Array;
  readonly #centroids: Uint8Array;
  readonly #centroidScale: Float32Array;
  readonly #centroidBias: Float32Array;
  readonly #totals: Float32Array;
  readonly #counts: Uint32Array;

  constructor(rows: number, dims: number, lists: number, sampleRows: number) {
    this.sampleRows = sampleRows;
    this.#rows = rows;
    this.#dims = dims;
    this.#lists = lists;
    this.#stride = codeStrideOf(dims);
    const sizes = [rows * this.#stride, rows * 4, rows * 4, rows * 4, lists * this.#stride, lists * 4, lists * 4, lists * this.#stride * 4, lists * 4];
    const starts: number[] = [];
    let end = 0;
    for (const size of sizes) {
      starts.push(end);
      end = align(end + size);
    }
    const memory = sharedMemory(end);
    this.#kernels = kernelsFor(memory);
    const at = (i: number): [ArrayBufferLike, number] => [memory.buffer, starts[i] as number];
    this.#codes = new Int8Array(...at(0), rows * this.#stride);
    this.#scale = new Float32Array(...at(1), rows);
    this.#sum = new Int32Array(...at(2), rows);
    this.#assigned = new Uint32Array(...at(3), rows);
    this.#centroids = new Uint8Array(...at(4), lists * this.#stride).fill(64);
    this.#centroidScale = new Float32Array(...at(5), lists);
    this.#centroidBias = new Float32Array(...at(6), lists);
    this.#totals = new Float32Array(...at(7), lists * this.#stride);
    this.#counts = new Uint32Array(...at(8), lists);
  }

  fillSample(codes: Codes, sample: Uint32Array): void {
    const stride = this.#stride;
    sample.forEach((row, i) => {
      this.#codes.set(codes.i8.subarray(row * stride, (row + 1) * stride), i * stride);
      this.#scale[i] = codes.scale[row] as number;
      this.#sum[i] = codes.sum[row] as number;
    });
  }

  fillAll(codes: Codes): void {
    this.#codes.set(codes.i8);
    this.#scale.set(codes.scale);
    this.#sum.set(codes.sum);
  }

  /** The centroid of a list becomes row `row`. */
  seed(list: number, row: number): void {
    const scale = this.#scale[row] as number;
    for (let i = 0; i < this.#stride; i += 1) this.#totals[list * this.#stride + i] = (this.#codes[row * this.#stride + i] as number) * scale;
    this.#setCentroid(list, 1);
  }

  assign(rows: number): void {
    this.#kernels.assign(
      this.#codes.byteOffset,
      this.#scale.byteOffset,
      this.#sum.byteOffset,
      rows,
      this.#stride,
      this.#centroids.byteOffset,
      this.#centroidScale.byteOffset,
      this.#centroidBias.byteOffset,
      this.#lists,
      this.#assigned.byteOffset,
    );
  }

  /** Every centroid becomes the mean of its rows; one without rows moves to a random row. */
  move(rows: number, random: () => number): void {
    this.#accumulate(rows);
    for (let list = 0; list < this.#lists; list += 1) {
      const count = this.#counts[list] as number;
      if (count === 0) this.seed(list, Math.floor(random() * rows));
      else this.#setCentroid(list, 1 / count);
    }
  }

  #accumulate(rows: number): void {
    this.#totals.fill(0);
    this.#counts.fill(0);
    this.#kernels.accumulate(
      this.#codes.byteOffset,
      this.#scale.byteOffset,
      rows,
      this.#stride,
      this.#assigned.byteOffset,
      this.#totals.byteOffset,
      this.#counts.byteOffset,
    );
  }

  /** Quantises totals · factor to 7 bits, as a query is; the bias makes the best score that of the nearest centroid. */
  #setCentroid(list: number, factor: number): void {
    const at = list * this.#stride;
    let most = 0;
    let squares = 0;
    for (let i = at; i < at + this.#dims; i += 1) {
      const value = (this.#totals[i] as number) * factor;
      squares += value * value;
      most = Math.max(most, Math.abs(value));
    }
    this.#centroidScale[list] = most / 63;
    this.#centroidBias[list] = -squares / 2;
    const step = most === 0 ? 0 : (63 * factor) / most;
    for (let i = at; i < at + this.#dims; i += 1) this.#centroids[i] = 64 + Math.round((this.#totals[i] as number) * step);
  }

  /** The rows list by list, and as centroids the means of all rows of the lists. */
  result(codes: Codes): Omit<Lists, "heldOut"> {
    this.#accumulate(this.#rows);
    const offsets = new Uint32Array(this.#lists + 1);
    for (let list = 0; list < this.#lists; list += 1) offsets[list + 1] = (offsets[list] as number) + (this.#counts[list] as number);
    const next = offsets.slice();
    const order = new Uint32Array(this.#rows);
    const biases = new Float64Array(this.#lists);
    for (let row = 0; row < this.#rows; row += 1) {
      const list = this.#assigned[row] as number;
      const place = next[list] as number;
      order[place] = row;
      next[list] = place + 1;
      biases[list] = (biases[list] as number) + (codes.bias[row] as number);
    }
    const centroids = emptyCodes(this.#lists, this.#dims);
    for (let list = 0; list < this.#lists; list += 1) {
      const count = this.#counts[list] as number;
      if (count === 0) continue;
      quantizeRow(this.#totals, list * this.#stride, this.#dims, 1 / count, centroids, list);
      centroids.bias[list] = (biases[list] as number) / count;
    }
    return { lists: this.#lists, order, offsets, centroids };
  }
}
