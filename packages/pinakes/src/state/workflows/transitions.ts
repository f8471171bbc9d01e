/** Status transitions: which are allowed, and how they change a workflow's document. Pure. */
import type { Workflow, WorkflowAgent, WorkflowStatus } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";

export type WorkflowDocument = Workflow;

/** Completed and cancelled are final. The same status again is not a transition. */
export const transitions: Readonly<Record<WorkflowStatus, readonly WorkflowStatus[]>> = {
  pending: ["in_progress", "failed", "cancelled"],
  in_progress: ["paused", "completed", "failed", "cancelled"],
  paused: ["in_progress", "failed", "cancelled"],
  failed: ["in_progress", "cancelled"],
  completed: [],
  cancelled: [],
};

export function requireTransition({ workflow_id, status }: WorkflowDocument, to: WorkflowStatus): void {
  const next = transitions[status];
  if (next.includes(to)) return;
  const can = next.length === 0 ? "it has ended and cannot change" : `allowed next are ${next.join(", ")}`;
  throw new PinakesError("CONFLICT", `Workflow "${workflow_id}" is ${status} and cannot become ${to}: ${can}.`);
}

/**
 * The document after a status change, with its consequences: times and performance. Properties given with the change (`given`)
 * are kept. Without a status change nothing follows.
 */
export function afterTransition(
  before: WorkflowDocument,
  next: WorkflowDocument,
  given: ReadonlySet<string>,
  now: number,
): WorkflowDocument {
  if (before.status === next.status) return next;
  requireTransition(before, next.status);
  const at = new Date(now).toISOString();
  const filled = (values: Partial<WorkflowDocument>) =>
    Object.fromEntries(Object.entries(values).filter(([key]) => !given.has(key)));
  if (next.status === "in_progress") {
    const performance_metrics = {
      ...next.performance_metrics,
      queue_time_ms: next.performance_metrics.queue_time_ms || queueTime(before, now),
    };
    return { ...next, ...filled({ started_at: at, completed_at: null, error_details: null, performance_metrics }) };
  }
  const ran = {
    ...next,
    performance_metrics: { ...next.performance_metrics, execution_time_ms: executionTime(before, now) },
  };
  const left = given.has("performance_metrics") ? next : ran;
  if (next.status === "paused") return left;
  // A completed workflow has no remaining steps.
  const ended = {
    ...left,
    ...filled({ completed_at: at, ...(next.status === "completed" ? { current_step: next.total_steps } : {}) }),
  };
  return given.has("performance_metrics") ? ended : { ...ended, performance_metrics: finalMetrics(ended) };
}

function queueTime({ status, created_at }: WorkflowDocument, now: number): number {
  return status === "pending" ? since(created_at, now) : 0;
}

/** The total time in progress. A workflow imported in progress has no start here: its own value counts. */
function executionTime({ status, started_at, created_at, performance_metrics }: WorkflowDocument, now: number): number {
  const before = performance_metrics.execution_time_ms;
  if (status !== "in_progress") return before;
  if (typeof started_at === "string") return before + since(started_at, now);
  return before > 0 ? before : since(created_at, now);
}

function finalMetrics({
  performance_metrics: metrics,
  agents,
  created_at,
  completed_at,
  current_step,
  total_steps,
}: WorkflowDocument) {
  const steps = Math.max(current_step || total_steps, 1);
  return {
    ...metrics,
    total_duration_ms: since(created_at, Date.parse(completed_at ?? created_at)),
    avg_step_duration_ms: Math.round(metrics.execution_time_ms / steps),
    total_cost_usd: metrics.total_cost_usd || agents.reduce((sum, agent) => sum + costOf(agent), 0),
  };
}

/** The original schema has no field for the cost of one agent; programs use these. */
function costOf(agent: WorkflowAgent): number {
  const result = agent.result as {
    readonly cost_usd?: unknown;
    readonly token_usage?: { readonly cost_usd?: unknown };
  } | null;
  const told = [(agent as { readonly cost_usd?: unknown }).cost_usd, result?.cost_usd, result?.token_usage?.cost_usd];
  return (told.find((cost) => typeof cost === "number" && Number.isFinite(cost)) as number | undefined) ?? 0;
}

function since(time: string, now: number): number {
  return Math.max(0, now - Date.parse(time));
}

/** When it will time out; null without a timeout or if it is not in progress. */
export function deadlineOf({ status, started_at, metadata }: WorkflowDocument, modifiedAt: number): number | null {
  if (status !== "in_progress" || metadata.timeout_seconds === 0) return null;
  // A workflow imported in progress has no start here: its last change counts.
  return (typeof started_at === "string" ? Date.parse(started_at) : modifiedAt) + metadata.timeout_seconds * 1_000;
}
