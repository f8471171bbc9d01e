/**
 * int8 codes of vectors. A row x (for cosine: x / |x|) is scale · codes with codes in −127…127. With the row's bias, the score that the
 * kernel computes from codes is: cosine, the cosine; dot, the product; l2, 2·q·x − |x|², which orders rows as the distance does.
 */
import type { Section } from "./section.ts";
import type { Metric } from "../row.ts";
import { codeStrideOf, floatStrideOf } from "../kernels/context.ts";

export const shortestLength = 1e-15;

export interface Codes {
  readonly i8: Int8Array;
  readonly scale: Float32Array;
  readonly bias: Float32Array;
  /** Σ codes of the row: the query is shifted to be unsigned, which adds 64 · sum to every product. */
  readonly sum: Int32Array;
}

export function emptyCodes(rows: number, dims: number): Codes {
  return {
    i8: new Int8Array(rows * codeStrideOf(dims)),
    scale: new Float32Array(rows),
    bias: new Float32Array(rows),
    sum: new Int32Array(rows),
  };
}

/** Quantises `dims` floats from `at` into row `row`, multiplied by `factor`. */
export function quantizeRow(
  floats: Float32Array,
  at: number,
  dims: number,
  factor: number,
  codes: Codes,
  row: number,
): void {
  let most = 0;
  for (let i = 0; i < dims; i += 1) {
    const value = Math.abs(floats[at + i] as number);
    if (value > most) most = value;
  }
  codes.scale[row] = (most * factor) / 127;
  if (most === 0) return;
  const step = 127 / most;
  const target = row * codeStrideOf(dims);
  let sum = 0;
  for (let i = 0; i < dims; i += 1) {
    // Rounds by truncating a positive number: several times faster than Math.round.
    const code = (((floats[at + i] as number) * step + 128.5) | 0) - 128;
    codes.i8[target + i] = code;
    sum += code;
  }
  codes.sum[row] = sum;
}

/** vectors: rows × dims, row by row. */
export function quantize(
  vectors: Float32Array,
  rows: number,
  dims: number,
  metric: Metric,
): { codes: Codes; inverse: Float32Array } {
  const codes = emptyCodes(rows, dims);
  const inverse = new Float32Array(metric === "cosine" ? rows : 0);
  for (let row = 0; row < rows; row += 1) {
    let factor = 1;
    if (metric !== "dot") {
      const squares = sumOfSquares(vectors, row * dims, dims);
      if (metric === "l2") codes.bias[row] = -squares;
      else inverse[row] = factor = inverseOf(squares);
    }
    quantizeRow(vectors, row * dims, dims, factor, codes, row);
  }
  return { codes, inverse };
}

/** A vector that is too short has no direction, like the zero vector: floats cannot represent the products. */
function inverseOf(squares: number): number {
  return squares < shortestLength ** 2 ? 0 : 1 / Math.sqrt(squares);
}

function sumOfSquares(floats: Float32Array, at: number, dims: number): number {
  let squares = 0;
  for (let i = at; i < at + dims; i += 1) squares += (floats[i] as number) ** 2;
  return squares;
}

/** Rows of `dims` floats → rows of the stride of the file. */
export function padFloats(vectors: Float32Array, rows: number, dims: number): Float32Array {
  const stride = floatStrideOf(dims);
  if (stride === dims) return vectors.subarray(0, rows * dims);
  const padded = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row += 1) padded.set(vectors.subarray(row * dims, (row + 1) * dims), row * stride);
  return padded;
}

export function codeSections(prefix: string, codes: Codes): Section[] {
  return [
    { name: `${prefix}.i8`, bytes: bytesOf(codes.i8) },
    { name: `${prefix}.scale`, bytes: bytesOf(codes.scale) },
    { name: `${prefix}.bias`, bytes: bytesOf(codes.bias) },
    { name: `${prefix}.sum`, bytes: bytesOf(codes.sum) },
  ];
}

export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
