/** Consistency checks over HTTP: compares every store with the records. */
import { findingKinds } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, defineRoute, ok, type Route } from "../framework/index.ts";
import { id, Job } from "./schemas.ts";

const Finding = shape<wire.Finding>()(
  z
    .object({
      kind: z.enum(findingKinds),
      store: z.string(),
      repository_id: z.string().optional(),
      collection_id: z.string().optional(),
      incarnation: z.string().optional(),
      document_id: z.string().optional(),
      key: z.string().optional(),
      detail: z.string(),
      repaired: z.boolean(),
    })
    .meta({ id: "Finding" }),
);

export function fsckRoutes({ audit }: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/fsck",
      operationId: "fsck",
      summary: "Compare all stores with the records, and optionally repair differences",
      description:
        "Admins only. Writes continue during the check. The result of the job is the report, with the first 100 findings.",
      tag: "operation",
      auth: "caller",
      body: z
        .strictObject({
          repository: z.string().optional().describe("Only this repository; default: the whole workspace."),
          collection: z.string().optional().describe("Only this collection of the repository."),
          repair: z
            .boolean()
            .optional()
            .describe(
              "Repair findings; default false. Documents whose bytes are missing are marked and otherwise left unchanged.",
            ),
          force_missing: z
            .boolean()
            .optional()
            .describe(
              "Repair even if more than half of a collection seems missing or unknown, which is refused otherwise; default false.",
            ),
          deep: z.boolean().optional().describe("Check every chunk and read every byte of the vectors; default false."),
        })
        .optional(),
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, body }) => {
        const job = await audit.fsck(caller, body ?? {});
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/fsck/{jid}/findings",
      operationId: "listFsckFindings",
      summary: "List all recorded findings of a check",
      tag: "operation",
      auth: "caller",
      params: z.object({ jid: id.describe("Id of the job.") }),
      answers: { 200: { description: "At most 10,000.", schema: z.object({ items: z.array(Finding) }) } },
      handler: async ({ caller, params: p }) => ok({ items: await audit.findings(caller, p.jid) }),
    }),
  ];
}
