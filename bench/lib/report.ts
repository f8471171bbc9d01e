/** The table that a bench prints and the file that it writes: one row per line of "Must reach". */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What must be reached; null for rows that only inform. */
  readonly bar: { readonly atLeast: number } | { readonly atMost: number } | null;
  readonly note: string;
}

export function report(name: string, rows: readonly Row[]): void {
  const judged = rows.map((row) => ({
    name: row.name,
    value: round(row.value),
    unit: row.unit,
    bar: describe(row.bar),
    ok: reached(row),
    note: row.note,
  }));
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const commit = `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain", "--", "../packages") === "" ? "" : "-dirty"}`;
  const folder = fileURLToPath(new URL("../results/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify({ machine, commit, rows: judged }, null, 2)}\n`);
  console.log(`\n${name} on ${machine.cores} × ${machine.cpu}, Node ${machine.node}, commit ${commit}\n`);
  console.log("× is how many times faster ours is (their time ÷ our time): more is better.\n");
  const width = Math.max(...judged.map((row) => row.name.length));
  for (const row of judged) {
    console.log(
      `${row.ok ? "ok  " : "MISS"}  ${row.name.padEnd(width)}  ${String(row.value).padStart(9)} ${row.unit.padEnd(6)} ${row.bar.padEnd(8)}  ${row.note}`,
    );
  }
  if (judged.some((row) => !row.ok)) process.exitCode = 1;
}

function reached({ value, bar }: Row): boolean {
  if (bar === null) return true;
  return "atLeast" in bar ? value >= bar.atLeast : value <= bar.atMost;
}

function describe(bar: Row["bar"]): string {
  if (bar === null) return "";
  return "atLeast" in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
