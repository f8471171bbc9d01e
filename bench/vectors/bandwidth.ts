/**
 * The memory bandwidth of this machine: no exact search is faster than bytes ÷ bandwidth. Measured in the same run, since noisy neighbours
 * take a share.
 */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { assembleKernel } from "./kernel.ts";

export interface Bandwidth {
  readonly threads: number;
  /** The best pass, in 10⁹ bytes a second, over all threads. */
  readonly gigabytesPerSecond: number;
  readonly medianGigabytesPerSecond: number;
}

export interface BandwidthTask {
  readonly module: WebAssembly.Module;
  readonly bytes: number;
  readonly passes: number;
  /** Threads that are ready; all start together. */
  readonly ready: Int32Array;
  readonly threads: number;
}

/** Far more than any cache holds. */
const totalBytes = 1 << 30;

export async function measureBandwidth(passes = 9): Promise<Bandwidth[]> {
  const module = assembleKernel();
  const found: Bandwidth[] = [];
  for (const threads of new Set([1, availableParallelism()])) {
    const ready = new Int32Array(new SharedArrayBuffer(4));
    const workerData: BandwidthTask = { module, bytes: totalBytes / threads, passes, ready, threads };
    const perThread = await Promise.all(
      Array.from({ length: threads }, async () => {
        const [times] = (await once(
          new Worker(new URL("bandwidth-worker.ts", import.meta.url), { workerData }),
          "message",
        )) as [number[]];
        return times.map((ms) => workerData.bytes / ms / 1e6);
      }),
    );
    const sums = Array.from({ length: passes }, (_, i) =>
      perThread.reduce((sum, speeds) => sum + (speeds[i] ?? 0), 0),
    ).sort((a, b) => a - b);
    found.push({ threads, gigabytesPerSecond: sums.at(-1) ?? 0, medianGigabytesPerSecond: sums[passes >> 1] ?? 0 });
  }
  return found;
}
