/** One call per query: from the query's floats to the best rows with their exact scores, sorted in the heap. */
import {
  addScanned, codeStride, heapLimit, heapSize, listTable, listsOf, offsetsOf, probesOf, queryCodes, queryScale, rowsOf, setHeapLimit, setHeapSize,
  setProbed, setThreshold, threshold, traceOf,
} from "./context";
import { heapify, keyOf, rowOf, scoreOf, takeBest } from "./heap";
import { prepare } from "./query";
import { rescore } from "./rescore";
import { scanMasked, scanRange, scanRows, score1, scores4 } from "./scan";

function begin(ctx: usize, candidates: u32): void {
  setHeapSize(ctx, 0);
  setHeapLimit(ctx, candidates);
  setThreshold(ctx, -Infinity);
  store<u32>(ctx, 0, 116);
  setProbed(ctx, 0);
  prepare(ctx);
}

/** Every row that is not excluded. Returns the number of keys in the heap. */
export function searchRows(ctx: usize, candidates: u32, masked: bool): u32 {
  begin(ctx, candidates);
  if (masked) scanMasked(ctx, 0, rowsOf(ctx));
  else scanRange(ctx, 0, rowsOf(ctx));
  rescore(ctx);
  return heapSize(ctx);
}

/** Scores only the rows of an ascending list of row numbers (u32) in memory. */
export function searchGivenRows(ctx: usize, candidates: u32, list: usize, count: u32): u32 {
  begin(ctx, candidates);
  scanRows(ctx, list, count);
  rescore(ctx);
  return heapSize(ctx);
}

/** The lists nearest to the query as keys in a heap, the best on top. */
export function rankLists(ctx: usize): void {
  const table = listTable(ctx);
  const query = queryCodes(ctx);
  const stride = codeStride(ctx);
  const scale = queryScale(ctx);
  const probes = probesOf(ctx);
  const lists = listsOf(ctx);
  let list: u32 = 0;
  for (; list + 4 <= lists; list += 4) {
    const scores = scores4(table, list, query, stride, scale);
    const at = probes + (<usize>list << 3);
    store<u64>(at, keyOf(f32x4.extract_lane(scores, 0), list));
    store<u64>(at, keyOf(f32x4.extract_lane(scores, 1), list + 1), 8);
    store<u64>(at, keyOf(f32x4.extract_lane(scores, 2), list + 2), 16);
    store<u64>(at, keyOf(f32x4.extract_lane(scores, 3), list + 3), 24);
  }
  for (; list < lists; list += 1) store<u64>(probes + (<usize>list << 3), keyOf(score1(table, list, query, stride, scale), list));
  heapify(probes, lists);
}

/** log2(x), linear between powers of two: sufficient for the rule below, and the same on every machine. x ≥ 1. */
@inline export function roughLog2(x: f32): f32 {
  const bits = reinterpret<u32>(x);
  return <f32>(<i32>(bits >> 23) - 127) + <f32>(bits & 0x7fffff) * <f32>(1.0 / 8388608.0);
}

/**
 * Lists in the order of their centroids' scores, at most `atMost`, and only while the centroid is not further than
 * `slack − weight · log2(1 + lists probed · ease)` below the worst candidate. A filter or a large k lowers the worst candidate, so both
 * probe further by themselves; `ease` ≤ 1 lets them.
 */
export function searchLists(ctx: usize, candidates: u32, masked: bool, atMost: u32, slack: f32, weight: f32, ease: f32): u32 {
  begin(ctx, candidates);
  rankLists(ctx);
  const probes = probesOf(ctx);
  const lists = listsOf(ctx);
  const offsets = offsetsOf(ctx);
  let probed: u32 = 0;
  while (probed < atMost && probed < lists) {
    const key = takeBest(probes, lists - probed);
    if (probed > 0 && scoreOf(key) < threshold(ctx) - slack + weight * roughLog2(1 + <f32>probed * ease)) break;
    const at = offsets + (<usize>rowOf(key) << 2);
    if (masked) scanMasked(ctx, load<u32>(at), load<u32>(at, 4));
    else scanRange(ctx, load<u32>(at), load<u32>(at, 4));
    probed += 1;
  }
  setProbed(ctx, probed);
  rescore(ctx);
  return heapSize(ctx);
}

/** The lists given by the caller at `list` (u32), for segments of which only these lists have been read. */
export function searchGivenLists(ctx: usize, candidates: u32, masked: bool, list: usize, count: u32): u32 {
  begin(ctx, candidates);
  for (let i: u32 = 0; i < count; i += 1) {
    const at = offsetsOf(ctx) + (<usize>load<u32>(list + (<usize>i << 2)) << 2);
    if (masked) scanMasked(ctx, load<u32>(at), load<u32>(at, 4));
    else scanRange(ctx, load<u32>(at), load<u32>(at, 4));
  }
  setProbed(ctx, count);
  rescore(ctx);
  return heapSize(ctx);
}

/** The order in which lists would be probed, as sorted keys in the probe area. Returns the number of lists. */
export function orderLists(ctx: usize): u32 {
  begin(ctx, 1);
  rankLists(ctx);
  const lists = listsOf(ctx);
  const probes = probesOf(ctx);
  // Taking the best shrinks the heap by one at its end, so the best can be kept there: the keys end up ascending.
  for (let left = lists; left > 0; left -= 1) {
    const key = takeBest(probes, left);
    store<u64>(probes + (<usize>(left - 1) << 3), key);
  }
  return lists;
}

/**
 * For calibration: probes every list and writes for each step the list (u32) and how far its centroid lay below the worst candidate
 * at that moment (f32), which is the slack that a search needs in order to get there. Ends early where that exceeds `limit`; the number
 * of steps is what the context says was probed.
 */
export function traceLists(ctx: usize, candidates: u32, limit: f32): u32 {
  begin(ctx, candidates);
  rankLists(ctx);
  const probes = probesOf(ctx);
  const lists = listsOf(ctx);
  let trace = traceOf(ctx);
  let probed: u32 = 0;
  for (; probed < lists; probed += 1) {
    const key = takeBest(probes, lists - probed);
    const at = offsetsOf(ctx) + (<usize>rowOf(key) << 2);
    const gap: f32 = heapSize(ctx) < heapLimit(ctx) ? -Infinity : threshold(ctx) - scoreOf(key);
    if (gap > limit) break;
    store<u32>(trace, rowOf(key));
    store<f32>(trace, gap, 4);
    trace += 8;
    scanMasked(ctx, load<u32>(at), load<u32>(at, 4));
  }
  setProbed(ctx, probed);
  rescore(ctx);
  return heapSize(ctx);
}
