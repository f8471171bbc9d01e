/** For tests: segments of vectors only, vectors of two kinds, and brute-force search. */
import { align } from "../kernels/kernels.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import { seededRandom } from "../segment/ivf-random.ts";
import { loadSegment, segmentOf, type LoadedSegment } from "../segment/load-segment.ts";
import type { Metric } from "../row.ts";
import type { Section } from "../segment/section.ts";
import type { IvfHeader, SegmentBytes, SegmentHeader } from "../segment-bytes.ts";
import {
  buildVectorSections,
  copyVectorSections,
  planVectors,
  writeListedFile,
  type Picks,
} from "../segment/vector-sections.ts";

export function loadSections(
  sections: readonly Section[],
  shape: { rows: number; dims: number; metric: Metric; ivf?: IvfHeader },
  slots = 1,
): LoadedSegment {
  const places: Record<string, [number, number]> = {};
  let end = 0;
  for (const { name, bytes } of sections) {
    places[name] = [end, bytes.length];
    end = align(end + bytes.length);
  }
  const header: SegmentHeader = {
    format: 1,
    kind: "segment",
    collection: "c",
    language: "none",
    fields: [],
    tokens: 0,
    sections: places,
    ...shape,
  };
  return loadSegment(
    header,
    end,
    slots,
    sections.map(({ name, bytes }) => ({ offset: places[name]?.[0] ?? 0, bytes })),
  );
}

export function flatSegment(vectors: Float32Array, dims: number, metric: Metric, slots = 1): LoadedSegment {
  const rows = vectors.length / dims;
  return loadSections(buildVectorSections(vectors, rows, dims, metric), { rows, dims, metric }, slots);
}

/** With lists, however few rows there are. `order[i]`: the vector that became row i. */
export function listedSegment(
  vectors: Float32Array,
  dims: number,
  metric: Metric,
  slots = 1,
): { loaded: LoadedSegment; order: Uint32Array } {
  const rows = vectors.length / dims;
  const source = new Uint32Array(rows);
  const row = Uint32Array.from({ length: rows }, (_, i) => i);
  const { sections, ivf, order } = mergedVectors(
    [{ segment: segmentOf(flatSegment(vectors, dims, metric)) }],
    { source, row },
    0,
  );
  if (ivf === undefined) throw new Error("No lists were made.");
  return { loaded: loadSections(sections, { rows, dims, metric, ivf }, slots), order };
}

/** The vector sections of a merge, with lists from `ivfRowsMin` rows on. */
export function mergedVectors(
  sources: readonly { readonly segment: SegmentBytes }[],
  picks: Picks,
  ivfRowsMin: number,
): { sections: Section[]; ivf?: IvfHeader; order: Uint32Array } {
  const planned = planVectors(sources, picks, { ivfRowsMin });
  const { order, lists } = planned;
  if (lists === undefined) return { sections: copyVectorSections(sources, picks, planned), order };
  const fields = { kind: "segment", collection: "c", language: "none", fields: [], tokens: 0 } as const;
  const { loaded, layout, ivf } = writeListedFile(sources, picks, lists, fields, []);
  const segment = segmentOf(loaded);
  return { sections: Object.keys(layout.places).map((name) => ({ name, bytes: segment.u8(name) })), ivf, order };
}

export function normals(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function randomVectors(rows: number, dims: number, seed: number): Float32Array {
  const normal = normals(seed);
  return Float32Array.from({ length: rows * dims }, () => normal());
}

/** 60 topics with a few directions each, and noise. */
export function clusteredVectors(rows: number, dims: number, seed: number): Float32Array {
  const normal = normals(seed);
  const random = seededRandom(seed + 1);
  const make = (scale: number): Float32Array => Float32Array.from({ length: dims }, () => normal() * scale);
  const topics = Array.from({ length: 60 }, () => ({
    centre: make(1),
    directions: Array.from({ length: 8 }, () => make(0.4)),
  }));
  const vectors = new Float32Array(rows * dims);
  for (let row = 0; row < rows; row += 1) {
    const { centre, directions } = topics[Math.floor(random() ** 2 * topics.length)] as (typeof topics)[number];
    const weights = directions.map(() => normal());
    for (let i = 0; i < dims; i += 1) {
      let value = (centre[i] as number) + normal() * 0.1;
      for (let j = 0; j < directions.length; j += 1) value += (weights[j] as number) * (directions[j]?.[i] as number);
      vectors[row * dims + i] = value;
    }
  }
  return vectors;
}

/** No clusters: 16 hidden dimensions, transformed nonlinearly and blurred. */
export function hardVectors(rows: number, dims: number, seed: number): Float32Array {
  const normal = normals(seed);
  const maps = Array.from({ length: 16 }, () => Float32Array.from({ length: dims }, () => normal()));
  const vectors = new Float32Array(rows * dims);
  for (let row = 0; row < rows; row += 1) {
    const weights = maps.map(() => normal());
    for (let i = 0; i < dims; i += 1) {
      let value = 0;
      for (let j = 0; j < maps.length; j += 1) value += (weights[j] as number) * (maps[j]?.[i] as number);
      vectors[row * dims + i] = Math.tanh(value / 4) + normal() * 0.15;
    }
  }
  return vectors;
}

export function plainScore(metric: Metric, a: Float32Array, b: Float32Array): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  let distance = 0;
  a.forEach((x, i) => {
    const y = b[i] as number;
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
    distance += (x - y) ** 2;
  });
  if (metric === "l2") return -Math.sqrt(distance);
  if (metric === "dot") return product;
  return squaresA === 0 || squaresB === 0 ? 0 : product / Math.sqrt(squaresA * squaresB);
}

/** Rows with their scores, best first, ties by row. */
export function plainSearch(
  vectors: Float32Array,
  dims: number,
  metric: Metric,
  query: Float32Array,
  k: number,
  skip?: Bitmap,
): { row: number; score: number }[] {
  const hits: { row: number; score: number }[] = [];
  for (let row = 0; row < vectors.length / dims; row += 1) {
    if (skip?.has(row) !== true)
      hits.push({ row, score: plainScore(metric, vectors.subarray(row * dims, (row + 1) * dims), query) });
  }
  return hits.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, k);
}
