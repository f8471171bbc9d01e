/** Exact scores of the candidates, from the floats of the rows. The order of additions is fixed, so every machine gets the same score. */
import { floatsOf, floatStride, heapOf, heapSize, inverseOf, metricOf, queryFloats, queryInverse } from "./context";
import { keyOf, rowOf, sortKeys } from "./heap";
import { cosine, l2 } from "./query";

/** The keys in the heap get their exact score and are sorted, best first. */
export function rescore(ctx: usize): void {
  const heap = heapOf(ctx);
  const size = heapSize(ctx);
  for (let i: u32 = 0; i < size; i += 1) {
    const row = rowOf(load<u64>(heap + (<usize>i << 3)));
    store<u64>(heap + (<usize>i << 3), keyOf(exactScore(ctx, row), row));
  }
  sortKeys(heap, size);
}

export function exactScore(ctx: usize, row: u32): f32 {
  const bytes = floatStride(ctx);
  const p = floatsOf(ctx) + row * bytes;
  const query = queryFloats(ctx);
  const metric = metricOf(ctx);
  if (metric == l2) return -sqrt<f32>(distance(p, query, bytes));
  const product = multiply(p, query, bytes);
  return metric == cosine ? product * (load<f32>(inverseOf(ctx) + (<usize>row << 2)) * queryInverse(ctx)) : product;
}

function multiply(p: usize, q: usize, bytes: usize): f32 {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  let i: usize = 0;
  for (; i + 64 <= bytes; i += 64) {
    a0 = f32x4.add(a0, f32x4.mul(v128.load(p + i), v128.load(q + i)));
    a1 = f32x4.add(a1, f32x4.mul(v128.load(p + i, 16), v128.load(q + i, 16)));
    a2 = f32x4.add(a2, f32x4.mul(v128.load(p + i, 32), v128.load(q + i, 32)));
    a3 = f32x4.add(a3, f32x4.mul(v128.load(p + i, 48), v128.load(q + i, 48)));
  }
  for (; i < bytes; i += 16) a0 = f32x4.add(a0, f32x4.mul(v128.load(p + i), v128.load(q + i)));
  return total(f32x4.add(f32x4.add(a0, a1), f32x4.add(a2, a3)));
}

function distance(p: usize, q: usize, bytes: usize): f32 {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  let i: usize = 0;
  for (; i + 64 <= bytes; i += 64) {
    a0 = f32x4.add(a0, square(p + i, q + i));
    a1 = f32x4.add(a1, square(p + i + 16, q + i + 16));
    a2 = f32x4.add(a2, square(p + i + 32, q + i + 32));
    a3 = f32x4.add(a3, square(p + i + 48, q + i + 48));
  }
  for (; i < bytes; i += 16) a0 = f32x4.add(a0, square(p + i, q + i));
  return total(f32x4.add(f32x4.add(a0, a1), f32x4.add(a2, a3)));
}

@inline function square(p: usize, q: usize): v128 {
  const difference = f32x4.sub(v128.load(p), v128.load(q));
  return f32x4.mul(difference, difference);
}

@inline function total(a: v128): f32 {
  return f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + (f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3));
}
