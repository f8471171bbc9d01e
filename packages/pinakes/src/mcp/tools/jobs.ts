/** Long work: wait for it with progress. */
import { jobStatuses } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import { defineTool, reads, type McpTool } from "../tool.ts";
import { timeoutSeconds, waitUntilOver } from "../wait-until.ts";

export const jobTools: readonly McpTool[] = [
  defineTool({
    name: "job_wait",
    title: "Wait for a job",
    description:
      "Waits until a job (indexing, deletion, re-indexing) is over or the time is up, with progress notifications, and returns its state.",
    input: z.strictObject({ job_id: z.string().min(1).max(256), timeout_seconds: timeoutSeconds(60) }),
    output: z.looseObject({
      job_id: z.string(),
      kind: z.string(),
      status: z.enum(jobStatuses),
      progress: z.object({ done: z.number(), total: z.number() }).nullable(),
      error: z.string().nullable(),
      result: jsonObject().nullable(),
    }),
    annotations: reads,
    run: async (context, { job_id, timeout_seconds = 60 }) => ({
      structured: await waitUntilOver(
        context,
        {
          read: () => context.knowledge.jobs.get(job_id),
          isOver: ({ status }) => status !== "queued" && status !== "running",
          report: ({ kind, status, progress }) => ({
            done: progress?.done ?? 0,
            total: progress?.total,
            message: `${kind}: ${status}`,
          }),
        },
        timeout_seconds,
      ),
    }),
  }),
];
