/**
 * k-means over int8 codes: centroids are quantised to 7 bits like a query, which costs no quality that a list could notice and is
 * several times faster than floats. Centroid c scores x by scale_x · (idot − 64 · sum_x) · scale_c + bias_c.
 */
import { sums } from "./dot";
import { gather } from "./scan";

/** Four centroids at a time against one row; writes the best centroid of each row. `centroids` must be a multiple of four. */
export function assign(
  codes: usize, scales: usize, sums: usize, rows: u32, stride: usize,
  centroids: usize, centroidScales: usize, centroidBiases: usize, centroidCount: u32, out: usize,
): void {
  for (let row: u32 = 0; row < rows; row += 1) {
    const at = <usize>row << 2;
    const code = codes + row * stride;
    const shift = i32x4.splat(load<i32>(sums + at) << 6);
    const scale = f32x4.splat(load<f32>(scales + at));
    let best = f32x4.splat(-Infinity);
    let bestAt = i32x4.splat(0);
    let index = i32x4(0, 1, 2, 3);
    const four = i32x4.splat(4);
    let p = centroids;
    for (let c: u32 = 0; c < centroidCount; c += 4) {
      const dots = dotCentroids(code, p, p + stride, p + 2 * stride, p + 3 * stride, stride);
      const products = f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(dots, shift)), scale);
      const scores = f32x4.add(f32x4.mul(products, v128.load(centroidScales + (<usize>c << 2))), v128.load(centroidBiases + (<usize>c << 2)));
      const better = f32x4.gt(scores, best);
      best = v128.bitselect(scores, best, better);
      bestAt = v128.bitselect(index, bestAt, better);
      index = i32x4.add(index, four);
      p += 4 * stride;
    }
    store<u32>(out + at, winner(best, bestAt));
  }
}

/**
 * The same among some centroids only: those that are listed for what `assigned` says of the row, `nearCount` numbers (a multiple of
 * four) for each; `assigned` becomes the best of them.
 */
export function assignNear(
  codes: usize, scales: usize, sums: usize, rows: u32, stride: usize,
  centroids: usize, centroidScales: usize, centroidBiases: usize, near: usize, nearCount: u32, assigned: usize,
): void {
  for (let row: u32 = 0; row < rows; row += 1) {
    const at = <usize>row << 2;
    const code = codes + row * stride;
    const shift = i32x4.splat(load<i32>(sums + at) << 6);
    const scale = f32x4.splat(load<f32>(scales + at));
    let best = f32x4.splat(-Infinity);
    let bestAt = i32x4.splat(0);
    let list = near + (<usize>(load<u32>(assigned + at) * nearCount) << 2);
    const end = list + (<usize>nearCount << 2);
    for (; list < end; list += 16) {
      const index = v128.load(list);
      const c0 = load<u32>(list), c1 = load<u32>(list, 4), c2 = load<u32>(list, 8), c3 = load<u32>(list, 12);
      const dots = dotCentroids(code, centroids + c0 * stride, centroids + c1 * stride, centroids + c2 * stride, centroids + c3 * stride, stride);
      const products = f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(dots, shift)), scale);
      const scores = f32x4.add(f32x4.mul(products, gather(centroidScales, c0, c1, c2, c3)), gather(centroidBiases, c0, c1, c2, c3));
      const better = f32x4.gt(scores, best);
      best = v128.bitselect(scores, best, better);
      bestAt = v128.bitselect(index, bestAt, better);
    }
    store<u32>(assigned + at, winner(best, bestAt));
  }
}

/** The scores of every row with every centroid (f32, row by row), instead of the best only. */
export function scoreAll(
  codes: usize, scales: usize, sums: usize, rows: u32, stride: usize,
  centroids: usize, centroidScales: usize, centroidBiases: usize, centroidCount: u32, out: usize,
): void {
  let to = out;
  for (let row: u32 = 0; row < rows; row += 1) {
    const at = <usize>row << 2;
    const code = codes + row * stride;
    const shift = i32x4.splat(load<i32>(sums + at) << 6);
    const scale = f32x4.splat(load<f32>(scales + at));
    let p = centroids;
    for (let c: u32 = 0; c < centroidCount; c += 4) {
      const dots = dotCentroids(code, p, p + stride, p + 2 * stride, p + 3 * stride, stride);
      const products = f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(dots, shift)), scale);
      const scaled = f32x4.mul(products, v128.load(centroidScales + (<usize>c << 2)));
      v128.store(to, f32x4.add(scaled, v128.load(centroidBiases + (<usize>c << 2))));
      p += 4 * stride;
      to += 16;
    }
  }
}

@inline function winner(best: v128, bestAt: v128): u32 {
  let score = f32x4.extract_lane(best, 0);
  let at = i32x4.extract_lane(bestAt, 0);
  if (f32x4.extract_lane(best, 1) > score) { score = f32x4.extract_lane(best, 1); at = i32x4.extract_lane(bestAt, 1); }
  if (f32x4.extract_lane(best, 2) > score) { score = f32x4.extract_lane(best, 2); at = i32x4.extract_lane(bestAt, 2); }
  if (f32x4.extract_lane(best, 3) > score) { at = i32x4.extract_lane(bestAt, 3); }
  return at;
}

/** Here the row is the signed operand and the centroids, which stay in the cache, are the unsigned ones. */
@inline function dotCentroids(row: usize, p0: usize, p1: usize, p2: usize, p3: usize, stride: usize): v128 {
  let a0 = i32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  for (let i: usize = 0; i < stride; i += 32) {
    const low = v128.load(row + i);
    a0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(low, v128.load(p0 + i), a0);
    a1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(low, v128.load(p1 + i), a1);
    a2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(low, v128.load(p2 + i), a2);
    a3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(low, v128.load(p3 + i), a3);
    const high = v128.load(row + i, 16);
    a0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(high, v128.load(p0 + i, 16), a0);
    a1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(high, v128.load(p1 + i, 16), a1);
    a2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(high, v128.load(p2 + i, 16), a2);
    a3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(high, v128.load(p3 + i, 16), a3);
  }
  return sums(a0, a1, a2, a3);
}

/** Adds every row, as scale · code, to the sum of its centroid (stride floats a centroid), and counts the rows. */
export function accumulate(codes: usize, scales: usize, rows: u32, stride: usize, assigned: usize, totals: usize, counts: usize): void {
  for (let row: u32 = 0; row < rows; row += 1) {
    const c = load<u32>(assigned + (<usize>row << 2));
    const count = counts + (<usize>c << 2);
    store<u32>(count, load<u32>(count) + 1);
    const scale = f32x4.splat(load<f32>(scales + (<usize>row << 2)));
    const code = codes + row * stride;
    const total = totals + c * stride * 4;
    for (let i: usize = 0; i < stride; i += 8) {
      const wide = v128.load8x8_s(code + i);
      const at = total + i * 4;
      const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide));
      const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide));
      v128.store(at, f32x4.add(v128.load(at), f32x4.mul(low, scale)));
      v128.store(at, f32x4.add(v128.load(at, 16), f32x4.mul(high, scale)), 16);
    }
  }
}
