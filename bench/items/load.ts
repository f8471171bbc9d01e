/** 2,000 operations a second, a fifth of them durable updates: the longest delays of the main thread. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { tenantScope } from "../../packages/pinakes/src/domain/scope.ts";
import { openSqliteItems } from "../../packages/pinakes/src/drivers/sqlite/index.ts";
import { documentOf } from "../lib/documents.ts";
import type { Row } from "../lib/report.ts";

const scope = tenantScope("bench");
const container = {
  name: "load",
  partitionKey: ["p"],
  indexes: { byStatus: { partition: ["p"], sort: ["status", "at"] } },
  feed: true,
};
const rate = 2_000;
const seconds = 10;
const items = 500;

export async function loadRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-load-"));
  const store = await openSqliteItems({ dir });
  try {
    await store.openContainer(container);
    for (let i = 0; i < items; i += 1)
      await store.write(scope, container.name, [`p${i}`], { op: "create", document: documentOf("x", `p${i}`, 5_120) });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const latencies: number[] = [];
    const running: Promise<void>[] = [];
    const operation = async (n: number): Promise<void> => {
      const start = performance.now();
      const p = `p${(n * 7) % items}`;
      if (n % 5 === 0)
        await store.write(scope, container.name, [p], {
          op: "patch",
          id: "x",
          patch: [{ op: "set", path: "/at", value: n }],
        });
      else if (n % 5 === 1) await store.query(scope, container.name, { index: "byStatus", equals: { p }, limit: 20 });
      else await store.readRaw(scope, container.name, { partition: [p], id: "x" });
      latencies.push(performance.now() - start);
    };
    delay.enable();
    const begin = performance.now();
    for (let sent = 0; sent < rate * seconds;) {
      const due = Math.min(rate * seconds, Math.floor(((performance.now() - begin) / 1000) * rate));
      for (; sent < due; sent += 1) running.push(operation(sent));
      await sleep(1);
    }
    await Promise.all(running);
    delay.disable();
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
    const took = (performance.now() - begin) / 1000;
    return [
      {
        name: `event-loop delay p99 at ${rate} operations/s, 20 % durable updates`,
        value: delay.percentile(99) / 1e6,
        unit: "ms",
        bar: { atMost: 20 },
        note: `max ${(delay.max / 1e6).toPrecision(3)} ms; ${Math.round(sorted.length / took)} operations/s done; latency p50 ${at(0.5).toPrecision(2)} ms, p99 ${at(0.99).toPrecision(3)} ms`,
      },
    ];
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
