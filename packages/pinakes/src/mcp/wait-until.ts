/** Waits for long work of a tool, with progress notifications. Cancelling the call ends the waiting, not the work. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ToolContext } from "./tool.ts";

const pollMs = 500;
const waitSecondsMax = 600;

export const timeoutSeconds = (whenAbsent: number) =>
  z
    .number()
    .int()
    .min(0)
    .max(waitSecondsMax)
    .optional()
    .describe(`How long to wait for its end; default ${whenAbsent}; 0: do not wait.`);

export interface Watched<State> {
  readonly read: () => Promise<State>;
  readonly isOver: (state: State) => boolean;
  /** What a progress notification says of it. */
  readonly report: (state: State) => {
    readonly done: number;
    readonly total: number | undefined;
    readonly message: string;
  };
}

/** The state when the work is over or the time is up. */
export async function waitUntilOver<State>(
  { signal, progress }: Pick<ToolContext, "signal" | "progress">,
  { read, isOver, report }: Watched<State>,
  timeout: number,
): Promise<State> {
  const end = Date.now() + timeout * 1_000;
  for (let reported = ""; ;) {
    const state = await read();
    const { done, total, message } = report(state);
    const now = JSON.stringify([done, total, message]);
    if (now !== reported) await progress(done, total, message);
    reported = now;
    if (isOver(state) || Date.now() >= end) return state;
    await sleep(Math.min(pollMs, Math.max(1, end - Date.now())), undefined, { signal });
  }
}
