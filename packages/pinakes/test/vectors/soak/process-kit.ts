/** The start of every process of the soak: its task from the command line, and lines of JSON on standard output. */
import { writeSync } from "node:fs";
import { hasCode } from "../../../src/domain/errors.ts";
import type { StackPlace } from "./place.ts";

export interface Task {
  readonly place: StackPlace;
  readonly journals: string;
  readonly seed: number;
  /** A different number for each run of a process. */
  readonly life: number;
  readonly skewMs: number;
  readonly lanes: readonly number[];
}

/** The counts are of this run of the process, so the last line of each run counts. */
export type Message =
  | { readonly ready: true }
  | { readonly counts: Readonly<Record<string, number>> }
  | { readonly broken: string }
  | { readonly done: true };

/** It could not continue because a store was unavailable for a while: start it again. */
export const unavailableExit = 75;

export function report(message: Message): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

export async function runProcess(main: (task: Task) => Promise<void>): Promise<never> {
  try {
    await main(JSON.parse(process.argv[2] ?? "{}") as Task);
    report({ done: true });
    process.exit(0);
  } catch (error) {
    if (isBusy(error)) process.exit(unavailableExit);
    report({ broken: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.exit(1);
  }
}

/** A store that is locked by a stopped process, or overloaded. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, "UNAVAILABLE", "THROTTLED");
}
