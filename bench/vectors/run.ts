/** Runs peers one after the other, each in its own process, and prints the results. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measureBandwidth } from "./bandwidth.ts";
import { loadVectors, scratch, type SetName, type SizeName } from "./data.ts";
import type { Measured, Point } from "./measure.ts";

export type Outcome = Measured | { readonly name: string; readonly reason: string };

/** A peer is the name of a file in peers/. The outcome of an unavailable one is the reason. */
export function runPeer(peer: string, set: SetName | "text", size: SizeName): Outcome {
  mkdirSync(`${scratch}tmp`, { recursive: true });
  const dir = mkdtempSync(`${scratch}tmp/run-`);
  try {
    const file = `${dir}/result.json`;
    const one = fileURLToPath(new URL("one.ts", import.meta.url));
    // LanceDB warns about deprecations with every search, which costs time.
    const env = { ...process.env, RUST_LOG: "error", LANCE_LOG: "error" };
    const { status, signal } = spawnSync(process.execPath, [one, peer, set, size, file], {
      stdio: ["ignore", "ignore", "inherit"],
      env,
    });
    if (status !== 0) return { name: peer, reason: `its process ended with ${status ?? signal}` };
    const result = JSON.parse(readFileSync(file, "utf8")) as Measured | { readonly reason: string };
    return "reason" in result ? { name: peer, reason: result.reason } : result;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function runPeers(peers: readonly string[], set: SetName | "text", size: SizeName): Promise<Outcome[]> {
  // Generates the data here, so that it does not count as a peer's memory.
  if (set !== "text") await loadVectors(set, size);
  return peers.map((peer) => runPeer(peer, set, size));
}

const columns = [
  "",
  "parameter",
  "recall@10",
  "CPU ms/q",
  "client",
  "QPS",
  "p50 ms",
  "p95 ms",
  "build s",
  "(CPU s)",
  "disk MB",
  "RSS MB",
];

export function printOutcomes(title: string, outcomes: readonly Outcome[]): void {
  const lines: string[][] = [columns];
  const notes: string[] = [];
  for (const outcome of outcomes) {
    if ("reason" in outcome) {
      notes.push(`${outcome.name}: NOT MEASURED: ${outcome.reason}`);
      continue;
    }
    const { name, note, build, chosen, reached, filtered, rssBytes } = outcome;
    const built = [
      (build.buildMs / 1000).toFixed(2),
      (build.buildCpuMs / 1000).toFixed(2),
      megabytes(build.diskBytes),
      megabytes(rssBytes),
    ];
    lines.push([name, ...cells(chosen), ...built]);
    if (typeof filtered !== "string")
      for (const field of ["tag10", "tag1"] as const)
        lines.push([`  ${field} (${field.slice(3)} %)`, ...cells(filtered[field])]);
    notes.push(
      `${name}: ${note}${reached ? "" : "; recall 0.95 was NOT REACHED"}${typeof filtered === "string" ? `; no filters: ${filtered}` : ""}`,
    );
  }
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  console.log(`\n${title}\n`);
  for (const line of lines)
    console.log(
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    );
  console.log(`\n${notes.join("\n")}`);
}

export async function printBandwidth(): Promise<void> {
  for (const { threads, gigabytesPerSecond, medianGigabytesPerSecond } of await measureBandwidth())
    console.log(
      `memory read with ${threads} thread${threads > 1 ? "s" : ""}: ${gigabytesPerSecond.toFixed(1)} GB/s, median ${medianGigabytesPerSecond.toFixed(1)}`,
    );
}

function cells({ parameter, recall, cpuMs, clientCpuMs, qps, p50Ms, p95Ms }: Point): string[] {
  return [
    String(parameter),
    recall.toFixed(4),
    cpuMs.toFixed(3),
    clientCpuMs.toFixed(3),
    qps.toFixed(0),
    p50Ms.toFixed(3),
    p95Ms.toFixed(3),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
