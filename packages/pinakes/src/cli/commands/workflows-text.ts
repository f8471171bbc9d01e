/** Formats workflows as text. */
import type { Checkpoint, Resumed, Stored, Workflow, WorkflowAgent, WorkflowStats } from "@pinakes/client";
import { count, fields, grid, inBytes, inMs, inTime, oneLine } from "../terminal/layout.ts";
import { printable, styled, type Terminal } from "../terminal/terminal.ts";

export function workflowsText(terminal: Terminal, workflows: readonly Workflow[]): string {
  return grid(
    terminal,
    workflows.map((workflow) => ({
      workflow: workflow.workflow_id,
      name: workflow.name,
      type: workflow.type,
      status: workflow.status,
      step: `${workflow.current_step}/${workflow.total_steps}`,
      updated: inTime(workflow.updated_at),
      error: workflow.error_details?.error_message ?? "",
    })),
    { whole: ["workflow", "status", "step", "updated"], optional: ["updated", "type", "error"] },
  );
}

export function workflowText(terminal: Terminal, workflow: Stored<Workflow>): string {
  return [summary(terminal, workflow), agents(terminal, workflow.agents), failure(terminal, workflow)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function summary(terminal: Terminal, workflow: Stored<Workflow>): string {
  const { metadata, performance_metrics: performance } = workflow;
  const seconds = metadata.timeout_seconds;
  return fields(terminal, {
    workflow: workflow.workflow_id,
    name: workflow.name,
    description: workflow.description,
    type: workflow.type,
    status: workflow.status,
    step: `${workflow.current_step} of ${workflow.total_steps}`,
    checkpoints: checkpointsLine(workflow),
    retries: metadata.retry_count === 0 ? undefined : `${metadata.retry_count} of ${metadata.max_retries}`,
    priority: metadata.priority,
    timeout: seconds === 0 ? undefined : count(seconds, "second"),
    environment: metadata.environment,
    tags: metadata.tags.join(", "),
    took: performance.total_duration_ms === 0 ? undefined : inMs(performance.total_duration_ms),
    cost: performance.total_cost_usd === 0 ? undefined : `${performance.total_cost_usd} USD`,
    created: `${inTime(workflow.created_at)} by ${metadata.created_by}`,
    updated: inTime(workflow.updated_at),
    completed: inTime(workflow.completed_at),
    etag: workflow._etag,
  });
}

/** The checkpoints in the response: all, the latest, or none if they were not read. */
function checkpointsLine(workflow: Workflow & { readonly checkpoints_omitted?: number }): string | undefined {
  const { checkpoints, checkpoints_omitted: omitted = 0 } = workflow;
  const latest = checkpoints.at(-1);
  if (checkpoints.length + omitted === 0) return undefined;
  return `${checkpoints.length + omitted}${latest === undefined ? "" : `, the latest of step ${latest.step} at ${inTime(latest.timestamp)}`}`;
}

function agents(terminal: Terminal, all: readonly WorkflowAgent[]): string {
  if (all.length === 0) return "";
  return grid(
    terminal,
    all.map(({ agent_id, agent_name, status, started_at, duration_ms, result }) => ({
      agent: agent_id,
      name: agent_name === agent_id ? "" : agent_name,
      status,
      started: inTime(started_at),
      took: duration_ms === null ? "" : inMs(duration_ms),
      tokens: result === null ? "" : result.token_usage.total_tokens,
      "tool calls": result === null ? "" : result.tool_calls.length,
      error: result?.error ?? "",
    })),
    { whole: ["agent", "status", "started"], optional: ["name", "started", "tool calls"] },
  );
}

const recovery = { retry: "retry", skip: "skip", manual_intervention: "resume" } as const;

/** After a resume the last failure is still shown, without recovery actions. */
function failure(terminal: Terminal, { error_details: error, status, workflow_id }: Workflow): string {
  if (error === null) return "";
  const text = styled(
    terminal,
    status === "failed" ? "red" : "dim",
    oneLine(`${error.error_type} in step ${error.failed_step}: ${error.error_message}`),
  );
  if (status !== "failed") return text;
  const waits = error.recovery_action === "manual_intervention" ? "It waits for a person. Then" : "Next";
  return `${text}\n${waits}: pinakes workflows ${recovery[error.recovery_action]} ${oneLine(workflow_id)}`;
}

export function checkpointsText(terminal: Terminal, checkpoints: readonly Checkpoint[]): string {
  return grid(
    terminal,
    checkpoints.map(({ step, timestamp, state, agent_context }) => ({
      step,
      time: inTime(timestamp),
      state: inBytes(Buffer.byteLength(JSON.stringify(state))),
      context: inBytes(Buffer.byteLength(JSON.stringify(agent_context))),
      holds: Object.keys(state).join(", "),
    })),
    { whole: ["time", "state", "context"], optional: ["context"] },
  );
}

export function checkpointText(terminal: Terminal, { step, timestamp, state, agent_context }: Checkpoint): string {
  const context =
    Object.keys(agent_context).length === 0 ? [] : [`${styled(terminal, "dim", "context")}\n${json(agent_context)}`];
  return [
    fields(terminal, { step, time: inTime(timestamp) }),
    `${styled(terminal, "dim", "state")}\n${json(state)}`,
    ...context,
  ].join("\n\n");
}

export function resumedText(terminal: Terminal, { workflow, checkpoint, lease }: Resumed): string {
  const held =
    lease === null
      ? ""
      : `\n\nThe lease belongs to ${lease.owner} until ${inTime(lease.expires_at)}; its fencing token is ${lease.fencing_token}.`;
  const from =
    checkpoint === null
      ? "It has no checkpoint yet: it starts with an empty state."
      : checkpointText(terminal, checkpoint);
  return `${workflowText(terminal, workflow)}\n\n${from}${printable(held)}`;
}

export function statsText(terminal: Terminal, { total, by_status, by_type }: WorkflowStats): string {
  const there = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0));
  return [count(total, "workflow"), fields(terminal, there(by_status)), fields(terminal, there(by_type))].join("\n\n");
}

function json(value: unknown): string {
  return printable(JSON.stringify(value, undefined, 2));
}
