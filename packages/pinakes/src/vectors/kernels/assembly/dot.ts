/**
 * Integer dot products of signed 8-bit rows and an unsigned 7-bit query. The relaxed instruction is exact on every machine as long as
 * its second operand stays within 0…127, and it does twice the work of widening to 16 bits first. Strides are multiples of 32.
 */

/** Four rows at once, so that a block of the query is loaded once for four. Lane i is the product of row i. */
// @ts-ignore: decorator
@inline export function dot4(p0: usize, p1: usize, p2: usize, p3: usize, query: usize, stride: usize): v128 {
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  let a2 = i32x4.splat(0);
  let a3 = i32x4.splat(0);
  for (let i: usize = 0; i < stride; i += 32) {
    const low = v128.load(query + i);
    a0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p0 + i), low, a0);
    a1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p1 + i), low, a1);
    a2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p2 + i), low, a2);
    a3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p3 + i), low, a3);
    const high = v128.load(query + i, 16);
    a0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p0 + i, 16), high, a0);
    a1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p1 + i, 16), high, a1);
    a2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p2 + i, 16), high, a2);
    a3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p3 + i, 16), high, a3);
  }
  return sums(a0, a1, a2, a3);
}

/** Lane i: the sum of the lanes of the i-th vector. */
// @ts-ignore: decorator
@inline function sums(a0: v128, a1: v128, a2: v128, a3: v128): v128 {
  const low = i32x4.add(v128.shuffle<i32>(a0, a1, 0, 4, 2, 6), v128.shuffle<i32>(a0, a1, 1, 5, 3, 7));
  const high = i32x4.add(v128.shuffle<i32>(a2, a3, 0, 4, 2, 6), v128.shuffle<i32>(a2, a3, 1, 5, 3, 7));
  return i32x4.add(v128.shuffle<i32>(low, high, 0, 1, 4, 5), v128.shuffle<i32>(low, high, 2, 3, 6, 7));
}

// @ts-ignore: decorator
@inline export function dot1(row: usize, query: usize, stride: usize): i32 {
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  for (let i: usize = 0; i < stride; i += 32) {
    a0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row + i), v128.load(query + i), a0);
    a1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row + i, 16), v128.load(query + i, 16), a1);
  }
  const a = i32x4.add(a0, a1);
  return i32x4.extract_lane(a, 0) + i32x4.extract_lane(a, 1) + i32x4.extract_lane(a, 2) + i32x4.extract_lane(a, 3);
}
