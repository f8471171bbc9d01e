/**
 * The search kernels (WebAssembly, built by scripts/kernels.ts). They work in the memory of a segment; a context struct in its scratch area
 * has the addresses. Addresses are bytes from the start of the memory.
 */
import { readFileSync } from "node:fs";

export interface Kernels {
  prepare(ctx: number): void;
  scanRange(ctx: number, first: number, end: number): void;
  scanRows(ctx: number, list: number, count: number): void;
  scanMasked(ctx: number, first: number, end: number): void;
  exactScore(ctx: number, row: number): number;
  searchRows(ctx: number, candidates: number, masked: boolean): number;
  searchLists(
    ctx: number,
    candidates: number,
    masked: boolean,
    atMost: number,
    slack: number,
    weight: number,
    ease: number,
  ): number;
  searchGivenLists(ctx: number, candidates: number, masked: boolean, list: number, count: number): number;
  searchGivenRows(ctx: number, candidates: number, list: number, count: number): number;
  roughLog2(x: number): number;
  orderLists(ctx: number): number;
  traceLists(ctx: number, candidates: number, limit: number): number;
  assign(...args: [...rows: KernelRows, ...centroids: KernelCentroids, centroidCount: number, out: number]): void;
  assignNear(
    ...args: [...rows: KernelRows, ...centroids: KernelCentroids, near: number, nearCount: number, assigned: number]
  ): void;
  scoreAll(...args: [...rows: KernelRows, ...centroids: KernelCentroids, centroidCount: number, out: number]): void;
  accumulate(
    codes: number,
    scales: number,
    rows: number,
    stride: number,
    assigned: number,
    totals: number,
    counts: number,
  ): void;
}

/** Addresses of int8 codes, scales and sums of codes, by row; then how many rows, and the bytes of a row's codes. */
export type KernelRows = readonly [codes: number, scales: number, sums: number, rows: number, stride: number];
/** Addresses of 7-bit codes, scales and biases, by centroid. */
export type KernelCentroids = readonly [centroids: number, centroidScales: number, centroidBiases: number];

/** A WebAssembly.Memory that threads share. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}

/** The types of WebAssembly are part of the browser's, which this repository does not use. */
const wasm = (
  globalThis as unknown as {
    WebAssembly: {
      Module: new (bytes: Uint8Array) => object;
      Instance: new (module: object, imports: object) => { readonly exports: unknown };
      Memory: new (options: { initial: number; maximum: number; shared: true }) => WasmMemory;
    };
  }
).WebAssembly;
let compiled: object | undefined;

export function kernelsFor(memory: WasmMemory): Kernels {
  compiled ??= new wasm.Module(readFileSync(new URL("./kernels.wasm", import.meta.url)));
  return new wasm.Instance(compiled, { env: { memory } }).exports as Kernels;
}

export const pageBytes = 65_536;

/** A shared memory that holds `bytes` and never grows, so views of it stay valid. */
export function sharedMemory(bytes: number): WasmMemory {
  const pages = Math.max(1, Math.ceil(bytes / pageBytes));
  const memory = new wasm.Memory({ initial: pages, maximum: pages, shared: true });
  accountShared(memory.buffer);
  return memory;
}

const accounted = new WeakMap<SharedArrayBuffer, ArrayBuffer>();

/**
 * Makes the garbage collector of this thread count shared memory. V8 counts what ArrayBuffers hold outside its heap and collects before
 * that grows large; it does not count shared memory, so that evicted segments of many gigabytes wait for a collection that small objects
 * alone seldom cause. An ArrayBuffer of the same size and lifetime represents it: it is never written, so it takes address space and no
 * memory. Every thread that holds the buffer calls this, since each collects on its own.
 */
export function accountShared(buffer: ArrayBufferLike): void {
  if (!(buffer instanceof SharedArrayBuffer) || accounted.has(buffer)) return;
  try {
    accounted.set(buffer, new ArrayBuffer(buffer.byteLength));
  } catch (error) {
    // Address space is limited here (ulimit -v, strict overcommit). The memory is then freed later, as it would be without this.
    if (!(error instanceof RangeError)) throw error;
  }
}

export function align(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}
