/** The cost of 10,000 idle collections: a process that opens their store, against one that opens an empty store. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "../lib/report.ts";
import { open, tenantScope } from "../../packages/pinakes/src/index.ts";

const collections = 10_000;

if (process.argv[2] === "child") {
  const pinakes = await open({ dir: process.argv[3] ?? "" });
  // Long enough for several rounds of background work.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  (globalThis as { gc?: () => void }).gc?.();
  console.log(process.memoryUsage().rss);
  await pinakes.close();
  process.exit();
}

export async function idleRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-idle-"));
  try {
    const scope = tenantScope("bench");
    const full = await open({ dir: join(dir, "full"), background: false });
    for (let i = 0; i < collections; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => full.vectors.create(scope, `c${i + j}`, { dims: 384 })));
    await full.close();
    const grown = (rss(join(dir, "full")) - rss(join(dir, "empty"))) / 1e6;
    return [
      {
        name: "memory of 10,000 idle collections",
        value: Math.max(0, grown),
        unit: "MB",
        bar: { atMost: 50 },
        note: "against an empty store",
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function rss(dir: string): number {
  const measured = Array.from({ length: 3 }, () =>
    Number(
      execFileSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), "child", dir], {
        encoding: "utf8",
      }),
    ),
  );
  return measured.sort((a, b) => a - b)[1] ?? Number.NaN;
}
