/**
 * npm run bench -- merges: R-CMP-23, the memory of a merge is bounded by the size of a segment, not by that of the collection. One process
 * fills a collection, compacting after every delta; another merges, and reports its peak resident memory. Compares a collection of one full
 * segment (`segmentRowsMax` rows) with one of four.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open, tenantScope } from "../packages/pinakes/src/index.ts";
import { vectorLimits } from "../packages/pinakes/src/vectors/limits.ts";
import { report } from "./lib/report.ts";
import { Random } from "./vectors/random.ts";

const scope = tenantScope("bench");
const dims = 32;
const deltaRows = 8_192;
const rowBytes = dims * Float32Array.BYTES_PER_ELEMENT;
const [segments, more] = [1, 4];

const [, , task, folder = "", count = "0"] = process.argv;
if (task !== undefined) {
  if (task === "fill") await fill(folder, Number(count));
  else console.log(await mergePeakBytes(folder));
  process.exit();
}

const [base, one, several] = [0, segments, more].map(measured) as [number, number, number];
const segmentBytes = vectorLimits.segmentRowsMax * rowBytes;
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
report("merges", [
  {
    name: `peak memory of compacting ${more} segments' rows, against one`,
    value: (several - base) / (one - base),
    unit: "×",
    bar: { atMost: 1.5 },
    note: `${megabytes(one - base)} and ${megabytes(several - base)} above an open store (${megabytes(base)}); by the size of the collection it would be ${more} ×`,
  },
  {
    name: "peak memory of compacting one segment's rows",
    value: (one - base) / segmentBytes,
    unit: "×",
    bar: null,
    note: `of the ${megabytes(segmentBytes)} that its vectors take`,
  },
]);

/** The smallest of three: other load on the machine can only add. */
function measured(fullSegments: number): number {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const peaks = Array.from({ length: 3 }, () => {
    const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-merges-"));
    try {
      run("fill", dir, String(fullSegments));
      return Number(run("merge", dir));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
  return Math.min(...peaks);
}

async function fill(dir: string, fullSegments: number): Promise<void> {
  await using pinakes = await open({ dir, background: false });
  await pinakes.vectors.create(scope, "c", { dims, language: "none" });
  const random = new Random(7, 7, 7);
  // Slightly more than full, so that there is something to merge.
  const rows = fullSegments * vectorLimits.segmentRowsMax + 3 * deltaRows;
  for (let at = 0; at < rows; at += deltaRows) {
    const upsert = Array.from({ length: deltaRows }, (_, i) => ({
      id: `r${at + i}`,
      vector: Float32Array.from({ length: dims }, () => random.normal()),
    }));
    await pinakes.vectors.append(scope, "c", { upsert });
    await pinakes.vectors.compact(scope, "c");
  }
}

async function mergePeakBytes(dir: string): Promise<number> {
  await using pinakes = await open({ dir, background: false });
  const before = (await pinakes.vectors.stats(scope, "c")).segments.length;
  const { outcome, merges } = await pinakes.vectors.compact(scope, "c", { all: true });
  if (outcome !== "done" || merges === 0)
    throw new Error(`compaction of ${before} segments: ${outcome}, ${merges} merges`);
  // In kilobytes.
  return process.resourceUsage().maxRSS * 1024;
}
