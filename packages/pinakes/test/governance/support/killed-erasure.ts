/** Runs the process that erases, again and again, each time until it kills itself. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { OpenOptions } from "../../../src/open.ts";
import type { Shared } from "./plant.ts";

/** How a process dies: at the nth of these calls, or of all calls to the stores; before it, in its middle, or once it is done. */
export interface Fatal {
  readonly at: number;
  readonly call?: "scrub" | undefined;
  readonly how: "before" | "during" | "after";
  readonly afterMs: number;
}

export interface ErasingSettings {
  readonly dir: string;
  readonly stores: Pick<OpenOptions, "items" | "objects" | "database">;
  readonly log: string;
  readonly user: string;
  readonly shared: Shared;
  readonly life: number;
  readonly writers: number;
  /** The subject is still known, so writes that name it must be refused from the start. */
  readonly probe: boolean;
  /** Absent: it runs to its end. */
  readonly fatal?: Fatal | undefined;
}

/** A write for another user that was acknowledged. */
export interface Acknowledged {
  readonly kind: "memory" | "thread" | "order" | "workflow" | "document";
  readonly writer: number;
  readonly at: string;
  readonly id: string;
  readonly text: string;
}

export type Line =
  | Acknowledged
  | { readonly accepted: string }
  | { readonly ended: string; readonly error: string | null };

export interface Life {
  readonly killed: boolean;
  readonly lines: readonly Line[];
  readonly stderr: string;
}

export async function live(settings: ErasingSettings): Promise<Life> {
  const script = fileURLToPath(new URL("erasing-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise<{ readonly code: number | null; readonly signal: string | null }>((resolve) =>
    child.on("exit", (code, signal) => resolve({ code, signal })),
  );
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(JSON.parse(line) as Line);
  const { code, signal } = await exited;
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`the process ended with ${code ?? signal}: ${stderr}`);
  return { killed: signal === "SIGKILL", lines, stderr };
}

/** The kills of a run by their seed: most at any call of the scan, the removal or the count; the last ones around the rewrite of the files. */
export function fatals(kills: number, containers: number, random: () => number): readonly Fatal[] {
  const ways = ["before", "during", "after"] as const;
  const scrubs = Math.ceil(kills / 5);
  return Array.from({ length: kills }, (_, i) => {
    const how = ways[Math.floor(random() * ways.length)] as Fatal["how"];
    const afterMs = Math.floor(random() * 20);
    if (i >= kills - scrubs) return { at: 1, call: "scrub", how, afterMs };
    // A run from its first step makes at least one walk of each container to scan, one to erase and one to count: it cannot end before.
    return { at: 1 + Math.floor(random() * 3 * containers), how, afterMs };
  });
}

/** Mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
