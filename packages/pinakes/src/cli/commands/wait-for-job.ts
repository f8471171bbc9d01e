/** Waits until a job has ended, whichever process runs it, and shows its progress. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "@pinakes/client";
import { ProgressBar } from "../terminal/progress-bar.ts";
import type { Terminal } from "../terminal/terminal.ts";

const pollMs = 100;

export async function waitForJob<View extends Job>(
  read: (jobId: string) => Promise<View>,
  begun: View,
  terminal: Terminal,
): Promise<View> {
  const bar =
    terminal.progressColumns === undefined
      ? undefined
      : new ProgressBar(terminal.err, undefined, terminal.progressColumns);
  let job = begun;
  try {
    while (job.status === "queued" || job.status === "running") {
      await sleep(pollMs, undefined, { signal: terminal.signal });
      job = await read(job.job_id);
      if (job.progress.total > 0) bar?.show(job.kind, job.progress.done, job.progress.total);
    }
    return job;
  } finally {
    bar?.end();
  }
}
