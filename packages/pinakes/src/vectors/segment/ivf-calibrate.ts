/**
 * How far a search in this segment must probe. Measured on its own rows: some of them are used as queries (each without itself), all lists
 * are probed, and for each of the true nearest it records when its list was reached. From that follow, for each recall, the slack (see
 * searchLists in the kernels) and the plain number of lists that would have found that share of the nearest.
 */
import { calibratedK, candidatesOf, contextFields, scratchOf, writeContext } from "../kernels/context.ts";
import { kernelsFor } from "../kernels/kernels.ts";
import { scratchAddress, segmentOf, type LoadedSegment } from "./load-segment.ts";
import type { IvfHeader } from "../segment-bytes.ts";

const targets = [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999];
const queriesMax = 256;
/** This many queries are followed through all lists; the others only as far as any one before ever needed, and half as far again. */
const fullQueries = 16;
/** A sample estimates only roughly how much is enough: this share of the remaining misses is avoided beyond the target. */
const margin = 0.2;
/** Weights that are tried, in parts of the spread of the gaps. */
const weights = [0, 0.125, 0.25, 0.5, 1, 2];
const weightRecall = 0.97;

export interface Calibration {
  readonly weight: number;
  readonly calibration: IvfHeader["calibration"];
}

/** One query: for each list, in the order of probing, how far it was below the worst candidate, and its rows; when the nearest came. */
interface Trace {
  readonly gaps: Float32Array;
  readonly sizes: Uint32Array;
  readonly ranks: readonly number[];
}

/** @param loaded its header has the lists, not yet the calibration; slot 0 is used */
export function calibrate(loaded: LoadedSegment, usable: (row: number) => boolean): Calibration {
  const lists = loaded.header.ivf?.lists ?? 0;
  const traces = tracesOf(loaded, choose(loaded.header.rows, usable), lists);
  const logs = logarithms(loaded, lists);
  const unit = spread(traces);
  let weight = 0;
  let least = Infinity;
  for (const part of weights) {
    const slack = quantile(slacksOf(traces, logs, part * unit), weightRecall);
    const rows = costOf(traces, logs, part * unit, slack);
    if (rows < least) [weight, least] = [Math.fround(part * unit), rows];
  }
  const slacks = slacksOf(traces, logs, weight);
  const ranks = traces.flatMap((trace) => [...trace.ranks]).sort((a, b) => a - b);
  return {
    weight,
    calibration: targets.map((recall) => {
      const share = recall + margin * (1 - recall);
      const slack = quantile(slacks, share);
      // JSON has no infinity: if the first list alone suffices, the smallest slack that was ever needed does no harm.
      const finite = Number.isFinite(slack) ? slack : (slacks.find(Number.isFinite) ?? 0);
      return { recall, probes: Math.min(lists, quantile(ranks, share) + 1), slack: finite };
    }),
  };
}

function tracesOf(loaded: LoadedSegment, queries: readonly number[], lists: number): Trace[] {
  const segment = segmentOf(loaded);
  const { rows } = loaded.header;
  const ctx = scratchAddress(loaded, 0);
  const scratch = scratchOf(loaded.header);
  writeContext(segment, ctx);
  const kernels = kernelsFor(loaded.memory);
  const floats = segment.f32("vectors.f32");
  const stride = floats.length / rows;
  const query = new Float32Array(segment.buffer, ctx + scratch.query, stride);
  const excluded = new Uint32Array(segment.buffer, ctx + scratch.excluded, Math.ceil(rows / 32)).fill(0);
  const keys = new Uint32Array(segment.buffer, ctx + scratch.heap, 2 * calibratedK);
  const steps = new Uint32Array(segment.buffer, ctx + scratch.trace, 2 * lists);
  const gaps = new Float32Array(segment.buffer, ctx + scratch.trace, 2 * lists);
  const probed = new Uint32Array(segment.buffer, ctx + contextFields.probed, 1);
  const offsets = segment.u32("ivf.offsets");
  const listOf = listsByRow(offsets, rows);
  const rankOf = new Uint32Array(lists);
  let widest = -Infinity;
  return scatter(queries).map((row, i) => {
    const limit = i >= fullQueries && widest > 0 ? 1.5 * widest : Infinity;
    query.set(floats.subarray(row * stride, (row + 1) * stride));
    excluded[row >>> 5] = 1 << (row & 31);
    const found = Math.min(calibratedK, kernels.traceLists(ctx, candidatesOf(calibratedK), limit));
    excluded[row >>> 5] = 0;
    const reached = probed[0] as number;
    for (let step = 0; step < reached; step += 1) rankOf[steps[2 * step] as number] = step;
    const sizes = new Uint32Array(reached);
    for (let step = 0; step < reached; step += 1) {
      const list = steps[2 * step] as number;
      sizes[step] = (offsets[list + 1] as number) - (offsets[list] as number);
    }
    const ranks = Array.from(
      { length: found },
      (_, j) => rankOf[listOf[~(keys[2 * j] as number) >>> 0] as number] as number,
    );
    for (const rank of ranks) widest = Math.max(widest, gaps[2 * rank + 1] as number);
    return { gaps: Float32Array.from({ length: reached }, (_, step) => gaps[2 * step + 1] as number), sizes, ranks };
  });
}

/** log2(1 + i) as the kernel rounds it. */
function logarithms(loaded: LoadedSegment, lists: number): Float32Array {
  const kernels = kernelsFor(loaded.memory);
  return Float32Array.from({ length: lists }, (_, i) => kernels.roughLog2(1 + i));
}

/** The slack a search must allow to reach each of the nearest, ascending. */
function slacksOf(traces: readonly Trace[], logs: Float32Array, weight: number): number[] {
  const slacks: number[] = [];
  for (const { gaps, ranks } of traces) {
    for (const rank of ranks) {
      let most = -Infinity;
      for (let i = 1; i <= rank; i += 1) most = Math.max(most, (gaps[i] as number) + weight * (logs[i] as number));
      slacks.push(most);
    }
  }
  return slacks.sort((a, b) => a - b);
}

function costOf(traces: readonly Trace[], logs: Float32Array, weight: number, slack: number): number {
  let rows = 0;
  for (const { gaps, sizes } of traces) {
    for (let i = 0; i < gaps.length; i += 1) {
      if (i > 0 && (gaps[i] as number) + weight * (logs[i] as number) > slack) break;
      rows += sizes[i] as number;
    }
  }
  return rows;
}

/** How much the gaps differ between the nearest. */
function spread(traces: readonly Trace[]): number {
  const gaps = traces
    .flatMap(({ gaps: all, ranks }) => ranks.map((rank) => all[rank] as number))
    .filter(Number.isFinite);
  gaps.sort((a, b) => a - b);
  return gaps.length === 0 ? 0 : quantile(gaps, 0.95) - quantile(gaps, 0.5);
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.ceil(share * ascending.length))] ?? 0;
}

/** Evenly spread over the segment, hence over its lists. */
function choose(rows: number, usable: (row: number) => boolean): number[] {
  const chosen: number[] = [];
  const step = Math.max(1, rows / queriesMax);
  for (let start = 0; start < rows; start += step) {
    const end = Math.min(rows, start + step);
    let row = Math.floor(start);
    while (row < end && !usable(row)) row += 1;
    if (row < end) chosen.push(row);
  }
  return chosen;
}

/** In an order in which every part is spread over all. */
function scatter(queries: readonly number[]): number[] {
  const strides = [0, 4, 2, 6, 1, 5, 3, 7];
  return strides.flatMap((start) => queries.filter((_, i) => i % 8 === start));
}

function listsByRow(offsets: Uint32Array, rows: number): Uint32Array {
  const listOf = new Uint32Array(rows);
  for (let list = 0; list + 1 < offsets.length; list += 1) listOf.fill(list, offsets[list], offsets[list + 1]);
  return listOf;
}
