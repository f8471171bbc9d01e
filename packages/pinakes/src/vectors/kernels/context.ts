/**
 * The scratch area of one thread in the memory of one segment, and the context struct at its start (see assembly/context.ts). Invariant:
 * areas of different slots do not overlap, so threads search one segment at the same time without locks.
 */
import type { SegmentBytes, SegmentHeader } from "../segment-bytes.ts";
import { vectorLimits } from "../limits.ts";
import { align } from "./kernels.ts";

export const metricCodes = Object.freeze({ cosine: 0, dot: 1, l2: 2 });
const chunkRows = 1_024;
const contextBytes = 128;
/** Byte offsets in the struct that callers read after a search. */
export const contextFields = Object.freeze({ scanned: 116, probed: 120 });

export function codeStrideOf(dims: number): number {
  return Math.ceil(dims / 32) * 32;
}

/** In floats. */
export function floatStrideOf(dims: number): number {
  return Math.ceil(dims / 4) * 4;
}

/** The k of calibration. */
export const calibratedK = 10;

/** How many candidates of the int8 scan are scored again exactly, so that the best k are among them. Never fewer than in calibration. */
export function candidatesOf(k: number): number {
  return Math.max(k, calibratedK) + Math.max(8, Math.ceil(k / 2));
}

export interface Scratch {
  readonly query: number;
  readonly codes: number;
  readonly excluded: number;
  readonly heap: number;
  readonly chunk: number;
  readonly probes: number;
  readonly trace: number;
  readonly bytes: number;
}

/** Offsets within a scratch area. */
export function scratchOf(header: Pick<SegmentHeader, "rows" | "dims" | "ivf">): Scratch {
  const lists = header.ivf?.lists ?? 0;
  const heapKeys = Math.min(Math.max(header.rows, 1), candidatesOf(vectorLimits.queryHitsMax));
  const query = contextBytes;
  const codes = align(query + floatStrideOf(header.dims) * 4);
  const excluded = align(codes + codeStrideOf(header.dims));
  const heap = align(excluded + Math.ceil(header.rows / 32) * 4);
  const chunk = align(heap + heapKeys * 8);
  const probes = align(chunk + Math.max(chunkRows, lists) * 4);
  const trace = align(probes + lists * 8);
  return { query, codes, excluded, heap, chunk, probes, trace, bytes: align(trace + lists * 8) };
}

/** Writes the context of the area that begins at `area`. */
export function writeContext(segment: SegmentBytes, area: number): void {
  const { header } = segment;
  const scratch = scratchOf(header);
  const table = (prefix: string): number[] =>
    ["i8", "scale", "bias", "sum"].map((part) => segment.address(`${prefix}.${part}`));
  const words = [
    header.rows,
    codeStrideOf(header.dims),
    floatStrideOf(header.dims) * 4,
    metricCodes[header.metric],
    segment.address("vectors.f32"),
    header.metric === "cosine" ? segment.address("vectors.inverse") : 0,
    ...table("vectors"),
    ...(header.ivf === undefined ? [0, 0, 0, 0] : table("ivf")),
    header.ivf?.lists ?? 0,
    header.ivf === undefined ? 0 : segment.address("ivf.offsets"),
    ...[scratch.query, scratch.codes, scratch.excluded, scratch.heap, scratch.chunk, scratch.probes, scratch.trace].map(
      (offset) => area + offset,
    ),
  ];
  new Uint32Array(segment.buffer, area, words.length).set(words);
}
