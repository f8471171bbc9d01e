/**
 * The best candidates so far, in a heap of 64-bit keys with the worst on top. A key orders by score, then by the smaller row, so the
 * outcome does not depend on the order in which rows are seen.
 */
import { heapLimit, heapOf, heapSize, setHeapSize, setThreshold } from "./context";

@inline export function keyOf(score: f32, row: u32): u64 {
  const bits = reinterpret<i32>(score + 0.0); // −0 becomes 0
  const ordered = <u32>(bits ^ ((bits >> 31) & 0x7fffffff)) ^ 0x80000000;
  return (<u64>ordered << 32) | <u64>(~row);
}

@inline export function scoreOf(key: u64): f32 {
  const ordered = <i32>(<u32>(key >> 32) ^ 0x80000000);
  return reinterpret<f32>(ordered ^ ((ordered >> 31) & 0x7fffffff));
}

@inline export function rowOf(key: u64): u32 {
  return ~(<u32>key);
}

export function offer(ctx: usize, score: f32, row: u32): void {
  const heap = heapOf(ctx);
  const key = keyOf(score, row);
  const limit = heapLimit(ctx);
  let size = heapSize(ctx);
  if (size < limit) {
    up(heap, size, key);
    size += 1;
    setHeapSize(ctx, size);
    if (size == limit) setThreshold(ctx, scoreOf(load<u64>(heap)));
    return;
  }
  if (key <= load<u64>(heap)) return;
  down(heap, size, 0, key);
  setThreshold(ctx, scoreOf(load<u64>(heap)));
}

function up(heap: usize, at: u32, key: u64): void {
  let i = at;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const above = load<u64>(heap + (parent << 3));
    if (above <= key) break;
    store<u64>(heap + (i << 3), above);
    i = parent;
  }
  store<u64>(heap + (i << 3), key);
}

/** Puts `key` at position `at` of a heap with the smallest key on top. */
function down(heap: usize, size: u32, at: u32, key: u64): void {
  let i = at;
  for (;;) {
    let child: u32 = 2 * i + 1;
    if (child >= size) break;
    let least = load<u64>(heap + (child << 3));
    if (child + 1 < size) {
      const right = load<u64>(heap + (child << 3), 8);
      if (right < least) {
        least = right;
        child += 1;
      }
    }
    if (least >= key) break;
    store<u64>(heap + (i << 3), least);
    i = child;
  }
  store<u64>(heap + (i << 3), key);
}

/** Any keys → the largest first. */
export function sortKeys(keys: usize, size: u32): void {
  for (let i = <i32>(size >> 1) - 1; i >= 0; i -= 1) down(keys, size, i, load<u64>(keys + (i << 3)));
  for (let end = <i32>size - 1; end > 0; end -= 1) {
    const last = load<u64>(keys + (end << 3));
    store<u64>(keys + (end << 3), load<u64>(keys));
    down(keys, end, 0, last);
  }
}

/** Any keys → a heap with the largest on top; `takeBest` then takes them one by one, cheaper than sorting all. */
export function heapify(keys: usize, size: u32): void {
  for (let i = <i32>(size >> 1) - 1; i >= 0; i -= 1) sink(keys, size, i, load<u64>(keys + (i << 3)));
}

export function takeBest(keys: usize, size: u32): u64 {
  const best = load<u64>(keys);
  if (size > 1) sink(keys, size - 1, 0, load<u64>(keys + ((size - 1) << 3)));
  return best;
}

function sink(keys: usize, size: u32, at: u32, key: u64): void {
  let i = at;
  for (;;) {
    let child: u32 = 2 * i + 1;
    if (child >= size) break;
    let most = load<u64>(keys + (child << 3));
    if (child + 1 < size) {
      const right = load<u64>(keys + (child << 3), 8);
      if (right > most) {
        most = right;
        child += 1;
      }
    }
    if (most <= key) break;
    store<u64>(keys + (i << 3), most);
    i = child;
  }
  store<u64>(keys + (i << 3), key);
}
