/**
 * The vectors of a segment file (RFC 0001, "Files"):
 *   vectors.f32      rows × stride32 floats: the original values, dims padded to 4
 *   vectors.i8       rows × stride8 codes, dims padded to 32; with vectors.scale (f32), vectors.bias (f32) and vectors.sum (i32) by row
 *   vectors.inverse  cosine only: 1 / |x| by row, 0 for a zero vector
 *   ivf.i8, ivf.scale, ivf.bias, ivf.sum   the same for the centroids of lists
 *   ivf.rule         one float: the weight of the rule that ends probing, see searchLists in the kernels
 *   ivf.offsets      lists + 1 row numbers: list l is the rows offsets[l] … offsets[l + 1] − 1
 */
import { codeStrideOf, floatStrideOf } from "../kernels/context.ts";
import { align } from "../kernels/kernels.ts";
import { vectorLimits } from "../limits.ts";
import { calibrate, type Calibration } from "./ivf-calibrate.ts";
import { planLists, type Lists } from "./ivf-lists.ts";
import { loadSegment } from "./load-segment.ts";
import { bytesOf, codeSections, emptyCodes, padFloats, quantize, type Codes } from "./quantize.ts";
import type { Metric } from "./row.ts";
import type { Section } from "./section.ts";
import type { IvfHeader, SegmentBytes, SegmentHeader } from "./segment-bytes.ts";

/** @param vectors rows × dims, row by row; zeros for a row without vector */
export function buildVectorSections(vectors: Float32Array, rows: number, dims: number, metric: Metric): Section[] {
  const { codes, inverse } = quantize(vectors, rows, dims, metric);
  return sectionsOf(padFloats(vectors, rows, dims), codes, inverse, metric);
}

export interface Picks {
  /** Pick i is row row[i] of source source[i]. */
  readonly source: Uint32Array;
  readonly row: Uint32Array;
}

export interface MergedVectors {
  readonly sections: Section[];
  readonly ivf?: IvfHeader;
  /** order[i]: the pick that became row i. */
  readonly order: Uint32Array;
}

/** Copies vectors and codes; groups the rows into lists where there are many. The same input gives the same bytes. */
export function mergeVectorSections(
  sources: readonly { readonly segment: SegmentBytes }[],
  picks: Picks,
  ivfRowsMin: number = vectorLimits.ivfRowsMin,
): MergedVectors {
  const first = sources[0]?.segment.header;
  const rows = picks.row.length;
  const identity = Uint32Array.from({ length: rows }, (_, i) => i);
  if (first === undefined) return { sections: [], order: identity };
  const { dims, metric } = first;
  const codes = copyCodes(sources, picks, identity, dims);
  if (rows <= ivfRowsMin) return { sections: sectionsOf(...copyFloats(sources, picks, identity, first, codes), metric), order: identity };
  const lists = planLists(codes, rows, dims);
  const [floats, ordered, inverse] = copyFloats(sources, picks, lists.order, first, copyCodes(sources, picks, lists.order, dims));
  const sections = [
    ...sectionsOf(floats, ordered, inverse, metric),
    ...codeSections("ivf", lists.centroids),
    { name: "ivf.offsets", bytes: bytesOf(lists.offsets) },
  ];
  const { weight, calibration } = calibrated(sections, rows, dims, metric, lists);
  sections.push({ name: "ivf.rule", bytes: bytesOf(Float32Array.of(weight)) });
  return { sections, ivf: { lists: lists.lists, calibration }, order: lists.order };
}

function sectionsOf(floats: Float32Array, codes: Codes, inverse: Float32Array, metric: Metric): Section[] {
  return [
    { name: "vectors.f32", bytes: bytesOf(floats) },
    ...codeSections("vectors", codes),
    ...(metric === "cosine" ? [{ name: "vectors.inverse", bytes: bytesOf(inverse) }] : []),
  ];
}

function copyCodes(sources: readonly { readonly segment: SegmentBytes }[], picks: Picks, order: Uint32Array, dims: number): Codes {
  const stride = codeStrideOf(dims);
  const codes = emptyCodes(order.length, dims);
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
    codes.i8.set(source.i8.subarray(row * stride, (row + 1) * stride), i * stride);
    codes.scale[i] = source.scale[row] as number;
    codes.bias[i] = source.bias[row] as number;
    codes.sum[i] = source.sum[row] as number;
  }
  return codes;
}

function copyFloats(
  sources: readonly { readonly segment: SegmentBytes }[],
  picks: Picks,
  order: Uint32Array,
  { dims, metric }: Pick<SegmentHeader, "dims" | "metric">,
  codes: Codes,
): [Float32Array, Codes, Float32Array] {
  const stride = floatStrideOf(dims);
  const floats = new Float32Array(order.length * stride);
  const inverse = new Float32Array(metric === "cosine" ? order.length : 0);
  const from = sources.map(({ segment }) => ({
    floats: segment.f32("vectors.f32"),
    inverse: metric === "cosine" ? segment.f32("vectors.inverse") : inverse,
  }));
  for (let i = 0; i < order.length; i += 1) {
    const pick = order[i] as number;
    const row = picks.row[pick] as number;
    const source = from[picks.source[pick] as number] as { floats: Float32Array; inverse: Float32Array };
    floats.set(source.floats.subarray(row * stride, (row + 1) * stride), i * stride);
    if (metric === "cosine") inverse[i] = source.inverse[row] as number;
  }
  return [floats, codes, inverse];
}

/** Calibration searches, so it needs the sections where the kernels reach them: a segment of vectors only. */
function calibrated(sections: readonly Section[], rows: number, dims: number, metric: Metric, lists: Lists): Calibration {
  const places: Record<string, [number, number]> = {};
  let end = 0;
  for (const { name, bytes } of sections) {
    places[name] = [end, bytes.length];
    end = align(end + bytes.length);
  }
  const ivf = { lists: lists.lists, calibration: [] };
  const header: SegmentHeader = { format: 1, kind: "segment", collection: "", rows, dims, metric, language: "", ivf, fields: [], tokens: 0, sections: places };
  const loaded = loadSegment(
    header,
    end,
    1,
    sections.map(({ name, bytes }) => ({ offset: (places[name] as [number, number])[0], bytes })),
  );
  return calibrate(loaded, (row) => lists.heldOut(lists.order[row] as number));
}
