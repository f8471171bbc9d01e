/** Long work: wait for it with progress. Cancelling the call stops the waiting, not the job. */
import { jobStatuses } from "@pinakes/client";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import { defineTool, reads, type McpTool } from "../tool.ts";

const pollMs = 500;
const waitSecondsMax = 600;

export const jobTools: readonly McpTool[] = [
  defineTool({
    name: "job_wait",
    title: "Wait for a job",
    description:
      "Waits until a job (indexing, deletion, re-indexing) has ended or the timeout passes, with progress notifications, and returns its state.",
    input: z.strictObject({
      job_id: z.string().min(1).max(256),
      timeout_seconds: z
        .number()
        .int()
        .min(0)
        .max(waitSecondsMax)
        .optional()
        .describe("60 when absent; 0: do not wait."),
    }),
    output: z.looseObject({
      job_id: z.string(),
      kind: z.string(),
      status: z.enum(jobStatuses),
      progress: z.object({ done: z.number(), total: z.number() }).nullable(),
      error: z.string().nullable(),
      result: jsonObject().nullable(),
    }),
    annotations: reads,
    run: async ({ knowledge, signal, progress }, { job_id, timeout_seconds = 60 }) => {
      const end = Date.now() + timeout_seconds * 1_000;
      for (let reported = ""; ;) {
        const job = await knowledge.jobs.get(job_id);
        const now = JSON.stringify([job.status, job.progress]);
        if (now !== reported)
          await progress(job.progress?.done ?? 0, job.progress?.total, `${job.kind}: ${job.status}`);
        reported = now;
        const over = job.status !== "queued" && job.status !== "running";
        if (over || Date.now() >= end) return { structured: job };
        await sleep(Math.min(pollMs, Math.max(1, end - Date.now())), undefined, { signal });
      }
    },
  }),
];
