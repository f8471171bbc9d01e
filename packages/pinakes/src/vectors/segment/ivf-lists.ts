/**
 * Groups rows into lists by k-means, on their int8 codes. Deterministic: the sample and the first centroids come from a fixed seed.
 *
 * A row is not compared with all centroids. The centroids are grouped themselves, by the same means; a row looks for the nearest group,
 * then among the centroids around it (`nearShare` of all, more than the group's own). That finds the nearest centroid for nearly every row
 * in a third of the time, and calibration, which comes after, measures the resulting lists.
 */
import { align, sharedMemory, type Kernels } from "../kernels/kernels.ts";
import { Means } from "./ivf-means.ts";
import { emptyCodes, quantizeRow, type Codes } from "./quantize.ts";
import { seededRandom } from "./ivf-random.ts";
import { SharedRows, type CallForHelp } from "./shared-rows.ts";

const sampleRowsPerList = 32;
const iterations = 6;
const groupIterations = 3;
const nearShare = 0.25;

export interface Lists {
  readonly lists: number;
  /** order[i]: the row at position i, list by list. */
  readonly order: Uint32Array;
  /** List l: positions offsets[l] … offsets[l + 1] − 1. */
  readonly offsets: Uint32Array;
  /** What a search scores in place of the lists' rows: their mean. */
  readonly centroids: Codes;
  /** Rows that were not used for forming the centroids, as far as there are. */
  readonly heldOut: (row: number) => boolean;
}

/** A multiple of four, because the kernel compares with four centroids at a time. */
export function listCountOf(rows: number): number {
  return fours(2 * Math.sqrt(rows));
}

export function planLists(codes: Codes, rows: number, dims: number, callForHelp?: CallForHelp): Lists {
  const space = new Space(rows, dims, listCountOf(rows), callForHelp);
  try {
    return planIn(space, codes, rows);
  } finally {
    space.close();
  }
}

function planIn(space: Space, codes: Codes, rows: number): Lists {
  const random = seededRandom(0x5eed);
  const { means, kernels } = space;
  const { lists } = means;
  const sampleRows = Math.min(rows, lists * sampleRowsPerList);
  const sample = choose(rows, sampleRows, random);
  const sampled = new Uint8Array(rows);
  for (const [i, row] of sample.entries()) {
    sampled[row] = 1;
    means.setRow(i, codes, row);
  }
  for (let list = 0; list < lists; list += 1) means.seed(list, (list * 7_919) % sampleRows);
  for (let i = 0; i < iterations; i += 1) {
    space.assign(sampleRows);
    means.move(kernels, sampleRows, (list) => means.seed(list, Math.floor(random() * sampleRows)));
  }
  means.codes.set(codes.i8);
  means.scale.set(codes.scale);
  means.sum.set(codes.sum);
  space.assign(rows);
  means.accumulate(kernels, rows);
  return { lists, ...ordered(means, codes), heldOut: (row) => sampled[row] === 0 };
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

/** The memory of one run: rows and centroids, and centroids as the rows of groups. */
class Space {
  readonly means: Means;
  readonly kernels: Kernels;
  readonly #shared: SharedRows;
  readonly #groups: Means;
  readonly #nearCount: number;
  /** For each group, the numbers of the centroids around it. */
  readonly #near: Uint32Array;
  /** Of the groups with the centroids. */
  readonly #scores: Float32Array;

  constructor(rows: number, dims: number, lists: number, callForHelp: CallForHelp | undefined) {
    const groups = fours(Math.sqrt(lists));
    this.#nearCount = Math.min(lists, fours(Math.max(64, lists * nearShare)));
    const groupsAt = Means.bytesOf(rows, lists, dims);
    const nearAt = groupsAt + Means.bytesOf(lists, groups, dims);
    const scoresAt = align(nearAt + groups * this.#nearCount * 4);
    const memory = sharedMemory(scoresAt + groups * lists * 4);
    this.#shared = new SharedRows(memory, callForHelp);
    this.kernels = this.#shared.kernels;
    this.means = new Means(memory, 0, rows, lists, dims);
    this.#groups = new Means(memory, groupsAt, lists, groups, dims);
    this.#near = new Uint32Array(memory.buffer, nearAt, groups * this.#nearCount);
    this.#scores = new Float32Array(memory.buffer, scoresAt, groups * lists);
  }

  /** Each of the first rows gets its list. */
  assign(rows: number): void {
    this.#group();
    const assigned = this.means.assigned.byteOffset;
    const given = this.means.rows(rows);
    this.#shared.run("assign", [...given, ...this.#groups.centroids, this.#groups.lists, assigned]);
    this.#shared.run("assignNear", [
      ...given,
      ...this.means.centroids,
      this.#near.byteOffset,
      this.#nearCount,
      assigned,
    ]);
  }

  close(): void {
    this.#shared.close();
  }

  /** Groups the current centroids, and finds those around each group. */
  #group(): void {
    const { means, kernels } = this;
    const groups = this.#groups;
    const { lists } = means;
    means.copyCentroidsTo(groups);
    const seed = (group: number): void => groups.seed(group, Math.floor((group * lists) / groups.lists));
    for (let group = 0; group < groups.lists; group += 1) seed(group);
    for (let i = 0; i < groupIterations; i += 1) {
      kernels.assign(...groups.rows(lists), ...groups.centroids, groups.lists, groups.assigned.byteOffset);
      groups.move(kernels, lists, seed);
    }
    this.#findNear();
  }

  #findNear(): void {
    const { means, kernels } = this;
    const groups = this.#groups;
    kernels.scoreAll(...groups.rows(means.lists), ...groups.centroids, groups.lists, this.#scores.byteOffset);
    // What orders centroids by their distance to one group: product − |centroid|² / 2.
    const nearness = new Float32Array(means.lists);
    for (let group = 0; group < groups.lists; group += 1) {
      for (let list = 0; list < means.lists; list += 1)
        nearness[list] = (this.#scores[list * groups.lists + group] as number) + (means.centroidBias[list] as number);
      const least = nearness.toSorted()[means.lists - this.#nearCount] as number;
      let next = group * this.#nearCount;
      const end = next + this.#nearCount;
      for (let list = 0; list < means.lists && next < end; list += 1) {
        if ((nearness[list] as number) < least) continue;
        this.#near[next] = list;
        next += 1;
      }
    }
  }
}

/** The rows list by list, and as centroids the means of all rows of the lists. */
function ordered(
  { lists, dims, stride, assigned, counts, totals }: Means,
  codes: Codes,
): Pick<Lists, "order" | "offsets" | "centroids"> {
  const rows = assigned.length;
  const offsets = new Uint32Array(lists + 1);
  for (let list = 0; list < lists; list += 1) offsets[list + 1] = (offsets[list] as number) + (counts[list] as number);
  const next = offsets.slice();
  const order = new Uint32Array(rows);
  const biases = new Float64Array(lists);
  for (let row = 0; row < rows; row += 1) {
    const list = assigned[row] as number;
    const place = next[list] as number;
    order[place] = row;
    next[list] = place + 1;
    biases[list] = (biases[list] as number) + (codes.bias[row] as number);
  }
  const centroids = emptyCodes(lists, dims);
  for (let list = 0; list < lists; list += 1) {
    const count = counts[list] as number;
    if (count === 0) continue;
    quantizeRow(totals, list * stride, dims, 1 / count, centroids, list);
    centroids.bias[list] = (biases[list] as number) / count;
  }
  return { order, offsets, centroids };
}

function fours(count: number): number {
  return Math.max(4, Math.ceil(count / 4) * 4);
}
