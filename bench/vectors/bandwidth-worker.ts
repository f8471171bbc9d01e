/** One thread of bandwidth.ts. */
import { parentPort, workerData } from "node:worker_threads";
import type { BandwidthTask } from "./bandwidth.ts";
import { startKernel } from "./kernel.ts";

const { module, bytes, passes, ready, threads } = workerData as BandwidthTask;
const { memory, kernel } = startKernel(module, bytes);
// Memory that was never written is one page of zeros, in the cache.
new Uint8Array(memory.buffer).fill(7);
kernel.readAll(0, bytes);
Atomics.add(ready, 0, 1);
while (Atomics.load(ready, 0) < threads);
const times: number[] = [];
for (let i = 0; i < passes; i += 1) {
  const start = performance.now();
  kernel.readAll(0, bytes);
  times.push(performance.now() - start);
}
parentPort?.postMessage(times);
