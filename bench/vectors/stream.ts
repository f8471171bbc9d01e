/** A stream of deltas: how soon they are visible, how often rows are rewritten, and the throughput. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Row } from "../lib/report.ts";
import { open, tenantScope } from "../../packages/pinakes/src/index.ts";
import { Random } from "./random.ts";

const scope = tenantScope("bench");
const deltas = 1_000;
const deltaRows = 1_000;
const dims = 16;

export async function streamRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-stream-"));
  const pinakes = await open({ dir, background: false });
  try {
    const { vectors } = pinakes;
    await vectors.create(scope, "stream", { dims, language: "none" });
    const random = new Random(7, 7, 7);
    const fresh: number[] = [];
    let written = 0;
    let segmentsMost = 0;
    const start = performance.now();
    for (let delta = 0; delta < deltas; delta += 1) {
      const upsert = Array.from({ length: deltaRows }, (_, i) => ({
        id: `${delta}-${i}`,
        vector: Float32Array.from({ length: dims }, () => random.normal()),
      }));
      await vectors.append(scope, "stream", { upsert });
      const acknowledged = performance.now();
      if (delta % 10 === 0) {
        const { hits } = await vectors.query(scope, "stream", { vector: upsert[0]?.vector ?? [], limit: 1 });
        if (hits[0]?.id !== `${delta}-0`) throw new Error(`delta ${delta} was not found`);
        fresh.push(performance.now() - acknowledged);
      }
      written += (await vectors.compact(scope, "stream")).rowsWritten;
      if (delta % 10 === 0)
        segmentsMost = Math.max(segmentsMost, (await vectors.stats(scope, "stream")).segments.length);
    }
    const seconds = (performance.now() - start) / 1000;
    fresh.sort((a, b) => a - b);
    return [
      {
        name: "fresh delta found after its acknowledgement, p99",
        value: fresh[Math.floor(fresh.length * 0.99)] ?? Number.NaN,
        unit: "ms",
        bar: { atMost: 200 },
        note: `p50 ${(fresh[fresh.length >> 1] ?? 0).toFixed(1)} ms, ${fresh.length} of ${deltas} deltas asked for`,
      },
      {
        name: "write amplification, 1 M rows by 1,000",
        value: written / (deltas * deltaRows),
        unit: "×",
        bar: { atMost: 6 },
        note: `rows written into segments ÷ rows appended; compacted after every delta, the worst case`,
      },
      { name: "segments at most", value: segmentsMost, unit: "", bar: { atMost: 24 }, note: "" },
      {
        name: "rows a second, append and compact in turns",
        value: (deltas * deltaRows) / seconds,
        unit: "rows/s",
        bar: null,
        note: `${dims} dimensions, fsyncs and checks included`,
      },
    ];
  } finally {
    await pinakes.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
