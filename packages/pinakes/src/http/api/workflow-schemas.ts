/** The shapes of workflows for OpenAPI and validation. Input is validated by the feature: state/workflows. */
import { workflowStatuses, workflowTypes } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { queryInteger } from "../framework/index.ts";

export const Workflow = shape<wire.Stored<wire.Workflow>, "started_at" | "ttl">()(
  z
    .looseObject({
      id: z.string(),
      workflow_id: z.string(),
      workspace_id: z.string(),
      type: z.enum(workflowTypes),
      name: z.string(),
      description: z.string(),
      status: z.enum(workflowStatuses),
      current_step: z
        .number()
        .describe("The larger of the stored value and the step of the latest checkpoint; lists show the stored value."),
      total_steps: z.number(),
      agents: z.array(z.looseObject({ agent_id: z.string(), agent_name: z.string(), status: z.string() })),
      checkpoints: z
        .array(z.looseObject({ step: z.number(), timestamp: z.string() }))
        .describe("The latest checkpoints, up to one megabyte."),
      checkpoints_omitted: z
        .number()
        .optional()
        .describe(
          "The number of earlier checkpoints; read them at /checkpoints. Only GET includes added ones in `checkpoints`.",
        ),
      metadata: z.looseObject({
        created_by: z.string(),
        priority: z.number(),
        retry_count: z.number(),
        max_retries: z.number(),
        timeout_seconds: z.number(),
      }),
      performance_metrics: z.looseObject({
        total_duration_ms: z.number(),
        execution_time_ms: z.number(),
        total_cost_usd: z.number(),
      }),
      error_details: z
        .looseObject({ error_type: z.string(), failed_step: z.number(), recovery_action: z.string() })
        .nullable(),
      created_at: z.string(),
      updated_at: z.string(),
      completed_at: z.string().nullable(),
      _etag: z.string(),
      _ts: z.number(),
    })
    .meta({ id: "Workflow" }),
);
export const Checkpoint = shape<wire.Checkpoint>()(
  z
    .looseObject({
      step: z.number(),
      timestamp: z.string(),
      state: z.looseObject({}),
      agent_context: z.looseObject({}),
    })
    .meta({ id: "Checkpoint" }),
);
export const Lease = shape<wire.Lease>()(
  z
    .object({ workflow_id: z.string(), owner: z.string(), fencing_token: z.number(), expires_at: z.string() })
    .meta({ id: "Lease" }),
);
export const LeaseHolder = shape<wire.LeaseHolder>()(
  z
    .object({ workflow_id: z.string(), owner: z.string().nullable(), expires_at: z.string().nullable() })
    .meta({ id: "LeaseHolder" }),
);
export const Resumed = shape<wire.Resumed>()(
  z
    .object({
      workflow: Workflow,
      checkpoint: Checkpoint.nullable(),
      state: z.looseObject({}),
      agent_context: z.looseObject({}),
      lease: Lease.nullable(),
    })
    .meta({ id: "ResumedWorkflow" }),
);
export const Stats = shape<wire.WorkflowStats>()(
  z
    .object({
      total: z.number(),
      by_status: z.record(z.string(), z.number()),
      by_type: z.record(z.string(), z.number()),
    })
    .meta({ id: "WorkflowStats" }),
);

/** Passed on unparsed, because documents are returned exactly as they were sent; the feature validates it. Described by `fields`. */
export function asSent(fields: z.ZodRawShape, required: readonly string[] = []): z.ZodType<Record<string, unknown>> {
  const { properties = {} } = z.toJSONSchema(z.object(fields), { io: "input", unrepresentable: "any" });
  return z.looseObject({}).meta({ properties, required: [...required] });
}
export const documentFields = {
  type: z.enum(workflowTypes),
  name: z.string(),
  description: z.string(),
  status: z.enum(workflowStatuses),
  current_step: z.number().int(),
  total_steps: z.number().int(),
  agents: z.array(z.looseObject({ agent_id: z.string() })),
  metadata: z
    .looseObject({})
    .describe("created_by, tags, priority (1–10), retry_count, max_retries, timeout_seconds (0: none), environment."),
  performance_metrics: z.looseObject({}),
  error_details: z.looseObject({}).nullable(),
  completed_at: z.string().nullable(),
  ttl: z.number().int().describe("Seconds after the last change; -1: never."),
};
export const NewWorkflow = asSent(
  {
    workflow_id: z.string().describe("Default: a UUID."),
    id: z.string(),
    ...documentFields,
    checkpoints: z.array(z.looseObject({ step: z.number() })),
  },
  ["type", "name", "total_steps"],
);
export const NewCheckpoint = asSent(
  {
    step: z.number().int(),
    state: z.looseObject({}),
    agent_context: z.looseObject({}),
    timestamp: z.string().describe("Default: now."),
  },
  ["step", "state"],
);
export const leaseSeconds = z.number().int().optional().describe("1–3600; default 30.");
export const fencing = {
  fencing_token: queryInteger()
    .optional()
    .describe("The fencing token, required while the lease is held; also as the header X-Fencing-Token."),
};
