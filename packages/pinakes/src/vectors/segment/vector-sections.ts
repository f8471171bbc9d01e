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
import { calibrate } from "./ivf-calibrate.ts";
import { planLists, type Lists } from "./ivf-lists.ts";
import { loadSegment, segmentOf, type LoadedSegment } from "./load-segment.ts";
import { bytesOf, codeSections, emptyCodes, padFloats, quantize, type Codes } from "./quantize.ts";
import type { Metric } from "./row.ts";
import type { Section } from "./section.ts";
import type { CallForHelp } from "./shared-rows.ts";
import type { IvfHeader, SegmentBytes, SegmentHeader } from "./segment-bytes.ts";

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
  { ivfRowsMin = vectorLimits.ivfRowsMin, callForHelp }: { readonly ivfRowsMin?: number; readonly callForHelp?: CallForHelp | undefined } = {},
): MergedVectors {
  const first = sources[0]?.segment.header;
  const rows = picks.row.length;
  const identity = Uint32Array.from({ length: rows }, (_, i) => i);
  if (first === undefined) return { sections: [], order: identity };
  const { dims, metric } = first;
  const codes = copyCodes(sources, picks, identity, emptyCodes(rows, dims));
  if (rows <= ivfRowsMin) {
    const floats = copyFloats(sources, picks, identity, emptyFloats(rows, dims, metric));
    return { sections: sectionsOf(floats, codes, metric), order: identity };
  }
  const lists = planLists(codes, rows, dims, callForHelp);
  const target = new ListedVectors(rows, dims, metric, lists);
  copyCodes(sources, picks, lists.order, target.codes);
  copyFloats(sources, picks, lists.order, target.floats);
  const { weight, calibration } = calibrate(target.loaded, (row) => lists.heldOut(lists.order[row] as number));
  const sections = [...target.sections, { name: "ivf.rule", bytes: bytesOf(Float32Array.of(weight)) }];
  return { sections, ivf: { lists: lists.lists, calibration }, order: lists.order };
}

interface Floats {
  readonly floats: Float32Array;
  /** Empty but for cosine. */
  readonly inverse: Float32Array;
}

function emptyFloats(rows: number, dims: number, metric: Metric): Floats {
  return { floats: new Float32Array(rows * floatStrideOf(dims)), inverse: new Float32Array(metric === "cosine" ? rows : 0) };
}

/** The sections, laid out where the kernels reach them: calibration searches them, so they are written there in the first place. */
class ListedVectors {
  readonly loaded: LoadedSegment;
  readonly codes: Codes;
  readonly floats: Floats;
  readonly sections: Section[];

  constructor(rows: number, dims: number, metric: Metric, { lists, centroids, offsets }: Lists) {
    const small = [...codeSections("ivf", centroids), { name: "ivf.offsets", bytes: bytesOf(offsets) }];
    const sizes: [string, number][] = [
      ...small.map(({ name, bytes }): [string, number] => [name, bytes.length]),
      ["vectors.f32", rows * floatStrideOf(dims) * 4],
      ["vectors.i8", rows * codeStrideOf(dims)],
      ["vectors.scale", rows * 4],
      ["vectors.bias", rows * 4],
      ["vectors.sum", rows * 4],
      ["vectors.inverse", metric === "cosine" ? rows * 4 : 0],
    ];
    const places: Record<string, [number, number]> = {};
    let end = 0;
    for (const [name, bytes] of sizes) {
      places[name] = [end, bytes];
      end = align(end + bytes);
    }
    const ivf = { lists, calibration: [] };
    const header: SegmentHeader = {
      format: 1,
      kind: "segment",
      collection: "",
      rows,
      dims,
      metric,
      language: "",
      ivf,
      fields: [],
      tokens: 0,
      sections: places,
    };
    this.loaded = loadSegment(
      header,
      end,
      1,
      small.map(({ name, bytes }) => ({ offset: (places[name] as [number, number])[0], bytes })),
    );
    const segment = segmentOf(this.loaded);
    this.codes = { i8: segment.i8("vectors.i8"), scale: segment.f32("vectors.scale"), bias: segment.f32("vectors.bias"), sum: segment.i32("vectors.sum") };
    this.floats = { floats: segment.f32("vectors.f32"), inverse: segment.f32("vectors.inverse") };
    this.sections = [...small, ...sectionsOf(this.floats, this.codes, metric)];
  }
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
