/** Scoring of int8 rows: score = scale · (idot − 64 · sum) · query scale + bias, the best into the heap. */
import {
  addScanned, chunkOf, codeStride, excludedOf, queryCodes, queryScale, rowTable, setTouched, tableBias, tableCodes, tableScale, tableSum, threshold,
} from "./context";
import { dot1, dot4, dot4Apart } from "./dot";
import { offer } from "./heap";

const chunkRows: u32 = 1024;

/** Rows first…first+3 of a table. */
@inline export function scores4(table: usize, first: u32, query: usize, stride: usize, scale: f32): v128 {
  const p = tableCodes(table) + first * stride;
  const dots = dot4(p, p + stride, p + 2 * stride, p + 3 * stride, query, stride);
  const at = <usize>first << 2;
  const products = f32x4.convert_i32x4_s(i32x4.sub(dots, i32x4.shl(v128.load(tableSum(table) + at), 6)));
  const scaled = f32x4.mul(f32x4.mul(v128.load(tableScale(table) + at), products), f32x4.splat(scale));
  return f32x4.add(scaled, v128.load(tableBias(table) + at));
}

@inline export function score1(table: usize, row: u32, query: usize, stride: usize, scale: f32): f32 {
  const product = <f32>(dot1(tableCodes(table) + row * stride, query, stride) - (load<i32>(tableSum(table) + (<usize>row << 2)) << 6));
  return load<f32>(tableScale(table) + (<usize>row << 2)) * product * scale + load<f32>(tableBias(table) + (<usize>row << 2));
}

/** All rows of first…end−1. */
export function scanRange(ctx: usize, first: u32, end: u32): void {
  const table = rowTable(ctx);
  const query = queryCodes(ctx);
  const stride = codeStride(ctx);
  const scale = queryScale(ctx);
  let row = first;
  for (; row + 4 <= end; row += 4) {
    const scores = scores4(table, row, query, stride, scale);
    const good = i32x4.bitmask(f32x4.ge(scores, f32x4.splat(threshold(ctx))));
    if (good != 0) {
      if (good & 1) offer(ctx, f32x4.extract_lane(scores, 0), row);
      if (good & 2) offer(ctx, f32x4.extract_lane(scores, 1), row + 1);
      if (good & 4) offer(ctx, f32x4.extract_lane(scores, 2), row + 2);
      if (good & 8) offer(ctx, f32x4.extract_lane(scores, 3), row + 3);
    }
  }
  for (; row < end; row += 1) {
    const score = score1(table, row, query, stride, scale);
    if (score >= threshold(ctx)) offer(ctx, score, row);
  }
  addScanned(ctx, end - first);
}

/** The rows of a list of row numbers. */
export function scanRows(ctx: usize, list: usize, count: u32): void {
  const table = rowTable(ctx);
  const query = queryCodes(ctx);
  const stride = codeStride(ctx);
  const scale = queryScale(ctx);
  const codes = tableCodes(table);
  let touched: u32 = 0;
  let i: u32 = 0;
  for (; i + 4 <= count; i += 4) {
    const at = list + (<usize>i << 2);
    // There is no instruction to read ahead, but a load whose value nobody waits for does it: the rows after these are on their way.
    if (i + aheadRows + 4 <= count) touched |= touch4(codes, at + (<usize>aheadRows << 2), stride);
    const r0 = load<u32>(at), r1 = load<u32>(at, 4), r2 = load<u32>(at, 8), r3 = load<u32>(at, 12);
    const dots = r3 - r0 < 8
      ? dot4(codes + r0 * stride, codes + r1 * stride, codes + r2 * stride, codes + r3 * stride, query, stride)
      : dot4Apart(codes + r0 * stride, codes + r1 * stride, codes + r2 * stride, codes + r3 * stride, query, stride);
    const sum = gather(tableSum(table), r0, r1, r2, r3);
    const products = f32x4.convert_i32x4_s(i32x4.sub(dots, i32x4.shl(sum, 6)));
    const scaled = f32x4.mul(f32x4.mul(gather(tableScale(table), r0, r1, r2, r3), products), f32x4.splat(scale));
    const scores = f32x4.add(scaled, gather(tableBias(table), r0, r1, r2, r3));
    const good = i32x4.bitmask(f32x4.ge(scores, f32x4.splat(threshold(ctx))));
    if (good != 0) {
      if (good & 1) offer(ctx, f32x4.extract_lane(scores, 0), r0);
      if (good & 2) offer(ctx, f32x4.extract_lane(scores, 1), r1);
      if (good & 4) offer(ctx, f32x4.extract_lane(scores, 2), r2);
      if (good & 8) offer(ctx, f32x4.extract_lane(scores, 3), r3);
    }
  }
  for (; i < count; i += 1) {
    const row = load<u32>(list + (<usize>i << 2));
    const score = score1(table, row, query, stride, scale);
    if (score >= threshold(ctx)) offer(ctx, score, row);
  }
  setTouched(ctx, touched);
  addScanned(ctx, count);
}

const aheadRows: u32 = 8;
const lineBytes: usize = 64;

/** Every cache line of the four rows at `list`. */
@inline function touch4(codes: usize, list: usize, stride: usize): u32 {
  const p0 = codes + load<u32>(list) * stride, p1 = codes + load<u32>(list, 4) * stride;
  const p2 = codes + load<u32>(list, 8) * stride, p3 = codes + load<u32>(list, 12) * stride;
  let seen: u32 = 0;
  for (let line: usize = 0; line < stride; line += lineBytes) {
    seen |= load<u8>(p0 + line) | load<u8>(p1 + line) | load<u8>(p2 + line) | load<u8>(p3 + line);
  }
  return seen;
}

/** Four numbers of a table. */
@inline export function gather(base: usize, r0: u32, r1: u32, r2: u32, r3: u32): v128 {
  let v = v128.load32_splat(base + (<usize>r0 << 2));
  v = v128.load_lane<u32>(base + (<usize>r1 << 2), v, 1);
  v = v128.load_lane<u32>(base + (<usize>r2 << 2), v, 2);
  return v128.load_lane<u32>(base + (<usize>r3 << 2), v, 3);
}

/** The rows of first…end−1 that are not excluded, gathered into chunks so that the scan still takes four at a time. */
export function scanMasked(ctx: usize, first: u32, end: u32): void {
  const mask = excludedOf(ctx);
  const chunk = chunkOf(ctx);
  let count: u32 = 0;
  let base = first & ~31;
  while (base < end) {
    let word = ~load<u32>(mask + (<usize>base >> 3));
    if (base < first) word &= <u32>-1 << (first - base);
    if (end - base < 32) word &= ((<u32>1 << (end - base)) - 1);
    while (word != 0) {
      store<u32>(chunk + (<usize>count << 2), base + ctz(word));
      count += 1;
      word &= word - 1;
    }
    if (count > chunkRows - 32) {
      scanRows(ctx, chunk, count);
      count = 0;
    }
    base += 32;
  }
  if (count > 0) scanRows(ctx, chunk, count);
}
