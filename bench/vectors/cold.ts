/** Time to the first answer: a new process opens a store with 100,000 rows (SQLite and a folder) and asks one question. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "../lib/report.ts";
import { open, tenantScope } from "../../packages/pinakes/src/index.ts";
import { loadVectors } from "./data.ts";

const scope = tenantScope("bench");
const deltaRows = 10_000;

if (process.argv[2] === "child") {
  const start = performance.now();
  const pinakes = await open({ dir: process.argv[3] ?? "", background: false });
  const opened = performance.now();
  await pinakes.vectors.query(scope, "cold", { vector: new Float32Array(384).fill(1), limit: 10 });
  console.log(JSON.stringify([opened - start, performance.now() - opened]));
  process.exit();
}

export async function coldRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-cold-"));
  try {
    const { data } = await loadVectors("clustered", "100k");
    const pinakes = await open({ dir, background: false });
    await pinakes.vectors.create(scope, "cold", { dims: data.dims, language: "none" });
    for (let from = 0; from < data.rows; from += deltaRows) {
      const upsert = Array.from({ length: deltaRows }, (_, i) => ({
        id: String(from + i),
        vector: data.vectors.subarray((from + i) * data.dims, (from + i + 1) * data.dims),
      }));
      await pinakes.vectors.append(scope, "cold", { upsert });
    }
    await pinakes.vectors.compact(scope, "cold", { all: true });
    await pinakes.close();
    const runs = Array.from(
      { length: 5 },
      () =>
        JSON.parse(
          execFileSync(process.execPath, [fileURLToPath(import.meta.url), "child", dir], { encoding: "utf8" }),
        ) as [number, number],
    );
    const [opened, asked] = runs.toSorted((a, b) => a[1] - b[1])[2] ?? [Number.NaN, Number.NaN];
    return [
      {
        name: "cold open of 100k × 384, to the first answer",
        value: asked,
        unit: "ms",
        bar: null,
        note: `every byte read and verified; files in the page cache; opening the stores took ${opened.toFixed(0)} ms`,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
