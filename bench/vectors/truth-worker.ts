/** One thread of truth.ts: the best among some of the rows. */
import { parentPort, workerData } from "node:worker_threads";
import { queryCount } from "./data.ts";
import { startKernel } from "./kernel.ts";
import { allows, Best, type TruthPart, type TruthTask } from "./truth.ts";

/** Together they fit into the second-level cache. */
const blockRows = 128;

const { module, vectors, tag10, tag1, queries, dims, from, to } = workerData as TruthTask;
const bytes = dims * 4;
const rowsAt = queryCount * bytes;
const outAt = rowsAt + blockRows * bytes;
const { memory, kernel } = startKernel(module, outAt + queryCount * blockRows * 4);
const scores = new Float32Array(memory.buffer, outAt);
new Float32Array(memory.buffer).set(queries);
const rows = new Float32Array(memory.buffer, rowsAt, blockRows * dims);
const part: TruthPart = { none: new Best(), tag10: new Best(), tag1: new Best() };

for (let first = from; first < to; first += blockRows) {
  const count = Math.min(blockRows, to - first);
  rows.set(vectors.subarray(first * dims, (first + count) * dims));
  kernel.dots(0, rowsAt, outAt, bytes, queryCount, count);
  for (let query = 0; query < queryCount; query += 1) {
    for (let r = 0; r < count; r += 1) {
      const id = first + r;
      const score = scores[query * count + r] as number;
      part.none.offer(query, id, score);
      if (allows.tag10(query, tag10[id] as number)) part.tag10.offer(query, id, score);
      if (allows.tag1(query, tag1[id] as number)) part.tag1.offer(query, id, score);
    }
  }
}
parentPort?.postMessage(part);
