/** Workflows: what an agent is doing, its progress, and where it resumes after a crash. */
import { workflowStatuses, workflowTypes, type NewWorkflow, type WorkflowChange } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import { adds, changes, defineTool, reads, type McpTool } from "../tool.ts";
import { document, ifMatch, nextCursor, paging, workflowId } from "./fields.ts";

const workflow = document({
  workflow_id: z.string(),
  type: z.enum(workflowTypes),
  name: z.string(),
  status: z.enum(workflowStatuses),
  current_step: z.number().describe("Number of completed steps."),
  total_steps: z.number(),
});
const checkpoint = z.looseObject({
  step: z.number(),
  timestamp: z.string(),
  state: jsonObject(),
  agent_context: jsonObject(),
});
const fencing = z
  .number()
  .int()
  .optional()
  .describe("fencing_token of the lease; required while another worker may hold it.");
const stepMax = 1_000_000;

export const workflowTools: readonly McpTool[] = [
  defineTool({
    name: "workflow_list",
    title: "List workflows",
    description: "Workflows of the workspace without their checkpoints, newest first. Filter by status or type.",
    input: z.strictObject({
      status: z.enum(workflowStatuses).optional(),
      type: z.enum(workflowTypes).optional(),
      ...paging,
    }),
    output: z.object({ items: z.array(workflow), next_cursor: nextCursor }),
    annotations: reads,
    run: async ({ state }, { limit = 20, ...query }) => ({
      structured: await state.workflows.list({ ...query, limit }),
    }),
  }),
  defineTool({
    name: "workflow_get",
    title: "Get a workflow",
    description: "One workflow with its agents and latest checkpoints.",
    input: z.strictObject({ workflow_id: workflowId }),
    output: z.object({ workflow }),
    annotations: reads,
    run: async ({ state }, args) => ({ structured: { workflow: await state.workflows.get(args.workflow_id) } }),
  }),
  defineTool({
    name: "workflow_create",
    title: "Create a workflow",
    description: "Records a workflow that an agent is about to run, so that its progress survives a crash.",
    input: z.strictObject({
      type: z.enum(workflowTypes),
      name: z.string().min(1).max(1_024),
      total_steps: z.number().int().min(0).max(stepMax),
      description: z.string().max(10_000).optional(),
      metadata: jsonObject().optional().describe("created_by, tags, priority, max_retries, timeout_seconds, …"),
      idempotency_key: z.string().min(1).max(255).optional().describe("Repeating the call creates nothing new."),
    }),
    output: z.object({ workflow }),
    annotations: adds,
    run: async ({ state }, { idempotency_key, ...input }) => ({
      structured: {
        workflow: await state.workflows.create(input as NewWorkflow, { idempotencyKey: idempotency_key }),
      },
    }),
  }),
  defineTool({
    name: "workflow_update",
    title: "Update a workflow",
    description:
      "Changes properties of a workflow: status (legal transitions only), current_step, agents, metadata, error_details. Pass if_match to refuse the write if the workflow has changed since it was read.",
    input: z.strictObject({
      workflow_id: workflowId,
      change: jsonObject().describe("Each property replaces the stored one."),
      if_match: ifMatch,
      fencing_token: fencing,
    }),
    output: z.object({ workflow }),
    annotations: { ...adds, idempotentHint: true },
    run: async ({ state }, args) => ({
      structured: {
        workflow: await state.workflows.patch(args.workflow_id, args.change as WorkflowChange, {
          ifMatch: args.if_match,
          fencingToken: args.fencing_token,
        }),
      },
    }),
  }),
  defineTool({
    name: "workflow_checkpoint",
    title: "Save a checkpoint",
    description: "Appends the state after a step. After a crash, workflow_resume returns the latest one.",
    input: z.strictObject({
      workflow_id: workflowId,
      step: z.number().int().min(0).max(stepMax),
      state: jsonObject(),
      agent_context: jsonObject().optional(),
      fencing_token: fencing,
    }),
    output: z.object({ checkpoint }),
    annotations: adds,
    run: async ({ state }, { workflow_id, fencing_token, step, ...rest }) => ({
      structured: {
        checkpoint: await state.workflows.checkpoint(
          workflow_id,
          { step, state: rest.state, ...(rest.agent_context && { agent_context: rest.agent_context }) },
          { fencingToken: fencing_token },
        ),
      },
    }),
  }),
  defineTool({
    name: "workflow_resume",
    title: "Resume a workflow",
    description:
      "Sets a workflow in progress and returns its latest checkpoint. With owner it also takes the lease, so that no other worker continues the same workflow.",
    input: z.strictObject({
      workflow_id: workflowId,
      owner: z.string().min(1).max(256).optional().describe("Name of this worker; takes the lease."),
      lease_seconds: z.number().int().min(1).max(86_400).optional(),
      fencing_token: fencing,
    }),
    output: z.object({
      workflow,
      checkpoint: checkpoint.nullable(),
      state: jsonObject(),
      agent_context: jsonObject(),
      lease: z.looseObject({ owner: z.string(), fencing_token: z.number(), expires_at: z.string() }).nullable(),
    }),
    annotations: { ...changes, destructiveHint: false },
    run: async ({ state }, { workflow_id, owner, lease_seconds, fencing_token }) => ({
      structured: await state.workflows.resume(workflow_id, {
        owner,
        leaseSeconds: lease_seconds,
        fencingToken: fencing_token,
      }),
    }),
  }),
];
