/**
 * The vectors of a segment file (RFC 0001, "Files"):
 *   vectors.f32      rows × stride32 floats: the original values, dims padded to 4
 *   vectors.i8       rows × stride8 codes, dims padded to 32; with vectors.scale (f32), vectors.bias (f32) and vectors.sum (i32) by row
 *   vectors.inverse  cosine only: 1 / |x| by row, 0 for a zero vector
 *   ivf.i8, ivf.scale, ivf.bias, ivf.sum   the same for the centroids of lists
 *   ivf.rule         one float: the weight of the rule that ends probing, see searchLists in the kernels
 *   ivf.offsets      lists + 1 row numbers: list l is the rows offsets[l] … offsets[l + 1] − 1
 */
import { invariant } from "../../domain/invariant.ts";
import { codeStrideOf, floatStrideOf } from "../kernels/context.ts";
import { vectorLimits } from "../limits.ts";
import { calibrate } from "./ivf-calibrate.ts";
import { headBytesOf, layOut, type HeaderFields, type Layout } from "./file-format.ts";
import { planLists, type Lists } from "./ivf-lists.ts";
import { loadSegment, segmentOf, type LoadedSegment } from "./load-segment.ts";
import { bytesOf, codeSections, emptyCodes, padFloats, quantize, type Codes } from "./quantize.ts";
import type { Metric } from "../row.ts";
import type { Section } from "./section.ts";
import type { CallForHelp } from "./shared-rows.ts";
import type { IvfHeader, SegmentBytes, SegmentHeader } from "../segment-bytes.ts";

/** @param vectors rows × dims, row by row; zeros for a row without vector */
export function buildVectorSections(vectors: Float32Array, rows: number, dims: number, metric: Metric): Section[] {
  const { codes, inverse } = quantize(vectors, rows, dims, metric);
  return sectionsOf({ floats: padFloats(vectors, rows, dims), inverse }, codes, metric);
}

export interface Picks {
  /** Pick i is row row[i] of source source[i]. */
  readonly source: Uint32Array;
  readonly row: Uint32Array;
}

export interface PlannedVectors {
  readonly codes: Codes;
  /** order[i]: the pick that becomes row i. */
  readonly order: Uint32Array;
  /** Absent if there are few rows. */
  readonly lists?: Lists;
}

export interface PlanOptions {
  readonly ivfRowsMin?: number | undefined;
  readonly callForHelp?: CallForHelp | undefined;
}

/** The order of the rows: grouped into lists if there are many. The same input gives the same order. */
export function planVectors(
  sources: Sources,
  picks: Picks,
  { ivfRowsMin = vectorLimits.ivfRowsMin, callForHelp }: PlanOptions = {},
): PlannedVectors {
  const rows = picks.row.length;
  const order = Uint32Array.from({ length: rows }, (_, i) => i);
  const { dims } = headerOf(sources);
  const codes = copyCodes(sources, picks, order, emptyCodes(rows, dims));
  if (rows <= ivfRowsMin) return { codes, order };
  const lists = planLists(codes, rows, dims, callForHelp);
  return { codes, order: lists.order, lists };
}

/** Without lists: the rows as they were picked. */
export function copyVectorSections(sources: Sources, picks: Picks, { codes, order }: PlannedVectors): Section[] {
  const { dims, metric } = headerOf(sources);
  const rows = order.length;
  const floats = {
    floats: new Float32Array(rows * floatStrideOf(dims)),
    inverse: new Float32Array(metric === "cosine" ? rows : 0),
  };
  return sectionsOf(copyFloats(sources, picks, order, floats), codes, metric);
}

/** A file whose rows are grouped into lists. */
export interface ListedFile {
  /** Holds the body from `bodyAt` on; before it there is room for the head, after it the scratch area of one thread. */
  readonly loaded: LoadedSegment;
  readonly bodyAt: number;
  readonly layout: Layout;
  readonly ivf: IvfHeader;
}

/**
 * The body of a file with lists: vectors in their new order, then the other sections. It is written where the kernels reach it, because
 * calibration searches it, and stays there: another copy would cost as much as building it.
 */
export function writeListedFile(
  sources: Sources,
  picks: Picks,
  lists: Lists,
  fields: Omit<HeaderFields, "rows" | "dims" | "metric" | "ivf">,
  others: readonly Section[],
): ListedFile {
  const { dims, metric } = headerOf(sources);
  const rows = lists.order.length;
  const given = [
    ...codeSections("ivf", lists.centroids),
    { name: "ivf.offsets", bytes: bytesOf(lists.offsets) },
    ...others,
  ];
  const layout = layOut([
    ...sizesOf(rows, dims, metric),
    ["ivf.rule", 4],
    ...given.map(({ name, bytes }) => [name, bytes.byteLength] as const),
  ]);
  const header = { ...fields, rows, dims, metric, ivf: { lists: lists.lists, calibration: [] } };
  const bodyAt = headBytesOf(header, layout) + calibrationBytesMax;
  const sections = Object.fromEntries(
    Object.entries(layout.places).map(([name, [offset, bytes]]) => [name, [bodyAt + offset, bytes] as const]),
  );
  const loaded = loadSegment({ ...header, format: 1, sections }, bodyAt + layout.bodyBytes, 1);
  const segment = segmentOf(loaded);
  for (const { name, bytes } of given) segment.u8(name).set(bytes);
  const codes = {
    i8: segment.i8("vectors.i8"),
    scale: segment.f32("vectors.scale"),
    bias: segment.f32("vectors.bias"),
    sum: segment.i32("vectors.sum"),
  };
  copyCodes(sources, picks, lists.order, codes);
  const inverse = metric === "cosine" ? segment.f32("vectors.inverse") : new Float32Array();
  copyFloats(sources, picks, lists.order, { floats: segment.f32("vectors.f32"), inverse });
  const { weight, calibration } = calibrate(loaded, (row) => lists.heldOut(lists.order[row] as number));
  segment.f32("ivf.rule")[0] = weight;
  return { loaded, bodyAt, layout, ivf: { lists: lists.lists, calibration } };
}

/** What the calibration adds to the JSON of the head: 8 numbers of recall with some 80 characters each. A multiple of 64. */
const calibrationBytesMax = 4_096;

function sizesOf(rows: number, dims: number, metric: Metric): (readonly [string, number])[] {
  return [
    ["vectors.f32", rows * floatStrideOf(dims) * 4],
    ["vectors.i8", rows * codeStrideOf(dims)],
    ["vectors.scale", rows * 4],
    ["vectors.bias", rows * 4],
    ["vectors.sum", rows * 4],
    ...(metric === "cosine" ? [["vectors.inverse", rows * 4] as const] : []),
  ];
}

function headerOf(sources: Sources): SegmentHeader {
  const first = sources[0]?.segment.header;
  invariant(first !== undefined, "INTERNAL", "A merge needs a file to merge.");
  return first;
}

interface Floats {
  readonly floats: Float32Array;
  /** Empty but for cosine. */
  readonly inverse: Float32Array;
}

function sectionsOf({ floats, inverse }: Floats, codes: Codes, metric: Metric): Section[] {
  return [
    { name: "vectors.f32", bytes: bytesOf(floats) },
    ...codeSections("vectors", codes),
    ...(metric === "cosine" ? [{ name: "vectors.inverse", bytes: bytesOf(inverse) }] : []),
  ];
}

type Sources = readonly { readonly segment: SegmentBytes }[];

function copyCodes(sources: Sources, picks: Picks, order: Uint32Array, into: Codes): Codes {
  const stride = into.i8.length / order.length;
  const from = sources.map(({ segment }) => ({
    i8: segment.i8("vectors.i8"),
    scale: segment.f32("vectors.scale"),
    bias: segment.f32("vectors.bias"),
    sum: segment.i32("vectors.sum"),
  }));
  for (let i = 0; i < order.length; i += 1) {
    const pick = order[i] as number;
    const row = picks.row[pick] as number;
    const source = from[picks.source[pick] as number] as Codes;
    into.i8.set(source.i8.subarray(row * stride, (row + 1) * stride), i * stride);
    into.scale[i] = source.scale[row] as number;
    into.bias[i] = source.bias[row] as number;
    into.sum[i] = source.sum[row] as number;
  }
  return into;
}

function copyFloats(sources: Sources, picks: Picks, order: Uint32Array, into: Floats): Floats {
  const stride = into.floats.length / order.length;
  const cosine = into.inverse.length > 0;
  const from = sources.map(({ segment }) => ({
    floats: segment.f32("vectors.f32"),
    inverse: cosine ? segment.f32("vectors.inverse") : into.inverse,
  }));
  for (let i = 0; i < order.length; i += 1) {
    const pick = order[i] as number;
    const row = picks.row[pick] as number;
    const source = from[picks.source[pick] as number] as Floats;
    into.floats.set(source.floats.subarray(row * stride, (row + 1) * stride), i * stride);
    if (cosine) into.inverse[i] = source.inverse[row] as number;
  }
  return into;
}
