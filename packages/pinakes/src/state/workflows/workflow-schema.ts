/** The schema of a workflow's document. Unknown properties are kept (R-AGT-10). */
import { agentStatuses, environments, recoveryActions, workflowStatuses, workflowTypes } from "@pinakes/client";
import { z } from "zod";
import { timestamp } from "../../containers/index.ts";
import { workflowLimits } from "./limits.ts";

/** Ids of workflows sort before those of system items, which begin with "~": so the workflow is the first of its partition. */
const workflowItemId = /^[A-Za-z0-9]/;

const count = () => z.number().int().min(0);
const measure = () => z.number().min(0);
const object = () => z.record(z.string(), z.unknown());

const ToolCall = z.object({
  tool_name: z.string(),
  tool_args: object().default({}),
  tool_result: z.unknown().default(null),
  duration_ms: measure().default(0),
  error: z.string().nullable().default(null),
});

const TokenUsage = z
  .object({ prompt_tokens: count(), completion_tokens: count(), total_tokens: count() })
  .refine(({ prompt_tokens, completion_tokens, total_tokens }) => total_tokens === prompt_tokens + completion_tokens, {
    message: "must be the sum of prompt_tokens and completion_tokens",
    path: ["total_tokens"],
  });

const Agent = z.object({
  agent_id: z.string().min(1),
  agent_name: z.string(),
  status: z.enum(agentStatuses),
  started_at: timestamp().nullable().default(null),
  completed_at: timestamp().nullable().default(null),
  duration_ms: measure().nullable().default(null),
  result: z
    .object({
      output: z.unknown().default(null),
      tool_calls: z.array(ToolCall).default([]),
      token_usage: TokenUsage.default({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
      error: z.string().nullable().default(null),
    })
    .nullable()
    .default(null),
});

export const CheckpointSchema = z.object({
  step: count().max(workflowLimits.checkpointStepMax),
  timestamp: timestamp(),
  state: object(),
  agent_context: object().default({}),
});

const Metadata = z.object({
  created_by: z.string(),
  tags: z.array(z.string()).default([]),
  priority: z.number().int().min(1).max(10).default(5),
  retry_count: count().default(0),
  max_retries: count().default(3),
  /** 0: none. */
  timeout_seconds: measure().default(0),
  environment: z.enum(environments).default("development"),
});

/** Properties without effect at the top level of a workflow. */
export const workflowFields = { metadata: Object.keys(Metadata.shape) };

const Performance = z.object({
  total_duration_ms: measure().default(0),
  queue_time_ms: measure().default(0),
  execution_time_ms: measure().default(0),
  avg_step_duration_ms: measure().default(0),
  total_cost_usd: measure().default(0),
});

const ErrorDetails = z.object({
  error_type: z.string(),
  error_message: z.string(),
  stack_trace: z.string(),
  failed_step: count(),
  recovery_action: z.enum(recoveryActions),
});

export const WorkflowSchema = z
  .object({
    id: z.string().regex(workflowItemId, { message: "must start with a letter or a digit" }),
    workflow_id: z.string().min(1).max(workflowLimits.workflowIdCharsMax),
    workspace_id: z.string(),
    type: z.enum(workflowTypes),
    name: z.string().min(1),
    description: z.string().default(""),
    status: z.enum(workflowStatuses).default("pending"),
    current_step: count().default(0),
    total_steps: count(),
    agents: z.array(Agent).default([]),
    checkpoints: z.array(CheckpointSchema).default([]),
    metadata: Metadata,
    performance_metrics: Performance.prefault({}),
    error_details: ErrorDetails.nullable().default(null),
    created_at: timestamp(),
    updated_at: timestamp(),
    completed_at: timestamp().nullable().default(null),
    /** When it last became in progress; set by the transitions. */
    started_at: timestamp().nullable().optional(),
    ttl: z.number().optional(),
  })
  .refine(({ current_step, total_steps }) => current_step <= total_steps, {
    message: "must be at most total_steps",
    path: ["current_step"],
  });
