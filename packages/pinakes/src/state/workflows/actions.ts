/** Actions on a workflow, as pure functions from its document to the next one. Whether it may be written is decided elsewhere. */
import { isDeepStrictEqual } from "node:util";
import type { WorkflowAgent, WorkflowChange, WorkflowError, WorkflowStatus } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import { refuseMisplaced } from "../misplaced.ts";
import { checkWorkflow, foreignWorkspace } from "./new-workflow.ts";
import { withProgress } from "./progress.ts";
import { afterTransition, requireTransition, type WorkflowDocument } from "./transitions.ts";
import { workflowFields } from "./workflow-schema.ts";

/** `done`: the step of the latest checkpoint, 0 without one. */
export type Action = (document: WorkflowDocument, now: number, done: number) => WorkflowDocument;
/** For callers that do not need it. */
type Change = (document: WorkflowDocument, now: number) => WorkflowDocument;

const fixed = ["id", "workflow_id", "workspace_id", "created_at", "checkpoints"] as const;

/** Each property replaces the stored one. Immutable properties may be repeated with their current value. */
export function patched(change: WorkflowChange): Action {
  if (!isJsonObject(change)) throw invalid("The change must be an object with the properties to replace.");
  const { checkpoints_omitted: _omitted, updated_at: _updated, ...wanted } = withoutSystemProperties(change);
  refuseMisplaced(wanted, workflowFields);
  return (document, now) => {
    const news = Object.entries(wanted).filter(
      ([key, value]) => value !== undefined && !isDeepStrictEqual(value, (document as unknown as JsonObject)[key]),
    );
    const touched = news.find(([key]) => (fixed as readonly string[]).includes(key));
    if (touched?.[0] === "checkpoints")
      throw invalid("checkpoints: cannot be replaced. Add one with checkpoint(), which keeps the earlier ones.");
    if (touched?.[0] === "workspace_id") throw foreignWorkspace();
    if (touched !== undefined) throw invalid(`${touched[0]}: is immutable. Omit it.`);
    return changed(document, Object.fromEntries(news), now);
  };
}

/** The document with these properties, validated, and the consequences of a status change. */
export function changed(document: WorkflowDocument, values: JsonObject, now: number): WorkflowDocument {
  const next = { ...(document as unknown as JsonObject), ...values, updated_at: new Date(now).toISOString() };
  const checked = withProgress({
    ...checkWorkflow({ ...next, checkpoints: [] }, now),
    checkpoints: document.checkpoints,
  });
  return afterTransition(document, checked, new Set(Object.keys(values)), now);
}

/** A named transition. */
export function moved(to: WorkflowStatus): Change {
  return (document, now) => {
    requireTransition(document, to);
    return changed(document, { status: to }, now);
  };
}

export const started: Action = (document, now) => {
  if (document.status === "pending") return moved("in_progress")(document, now);
  throw new PinakesError(
    "CONFLICT",
    `Workflow "${document.workflow_id}" is ${document.status}; only a pending one can be started. Use resume, or retry and skip after a failure.`,
  );
};

export function failed(error: Partial<WorkflowError>): Change {
  if (!isJsonObject(error))
    throw invalid(`error: must be an object such as { error_type, error_message }, got ${show(error)}.`);
  return (document, now) => {
    requireTransition(document, "failed");
    const known = {
      error_type: "error",
      error_message: "",
      stack_trace: "",
      failed_step: document.current_step,
      recovery_action: "retry",
    };
    return changed(document, { status: "failed", error_details: { ...known, ...(error as JsonObject) } }, now);
  };
}

/** Retries the failed step, up to the limit. */
export const retried: Action = (document, now, done) => {
  const step = recoverableStep(document, "retry", done);
  const { retry_count, max_retries } = document.metadata;
  if (retry_count >= max_retries) {
    throw new PinakesError(
      "CONFLICT",
      `Workflow "${document.workflow_id}" was retried ${retry_count} times, and its max_retries is ${max_retries}. Cancel it, skip the step, resume it by hand, or raise metadata.max_retries.`,
    );
  }
  const metadata = { ...document.metadata, retry_count: retry_count + 1 } as unknown as JsonObject;
  return changed(document, { status: "in_progress", current_step: step, metadata }, now);
};

/** Continues after the failed step. */
export const skipped: Action = (document, now, done) => {
  const step = recoverableStep(document, "skip", done);
  return changed(document, { status: "in_progress", current_step: Math.min(step + 1, document.total_steps) }, now);
};

/** By a person, or by a worker that takes over: also if retries are exhausted or forbidden. One in progress is unchanged. */
export function resumed(document: WorkflowDocument, now: number): WorkflowDocument | undefined {
  return document.status === "in_progress" ? undefined : moved("in_progress")(document, now);
}

/** A step with a checkpoint is never executed again. */
function recoverableStep(
  { workflow_id, status, error_details, current_step, total_steps }: WorkflowDocument,
  verb: "retry" | "skip",
  done: number,
): number {
  if (status !== "failed")
    throw new PinakesError(
      "CONFLICT",
      `Workflow "${workflow_id}" is ${status}; only a failed one can be ${verb === "retry" ? "retried" : "skipped"}.`,
    );
  if (error_details?.recovery_action === "manual_intervention") {
    throw new PinakesError(
      "CONFLICT",
      `Workflow "${workflow_id}" waits for a person (recovery_action: manual_intervention). Check error_details, then resume it, or patch error_details with another recovery_action.`,
    );
  }
  return Math.min(Math.max(error_details?.failed_step ?? current_step, done), total_steps);
}

const agentDefaults = {
  status: "pending",
  started_at: null,
  completed_at: null,
  duration_ms: null,
  result: null,
} as const;
const isOver = (status: unknown): boolean => status === "completed" || status === "failed" || status === "skipped";

/** Adds an agent, or changes the given properties; times follow from the status unless given. */
export function withAgent(agentId: string, agent: Partial<WorkflowAgent>): Action {
  if (typeof agentId !== "string" || agentId === "") throw invalid("agent_id: must be the id of the agent.");
  if (!isJsonObject(agent)) throw invalid(`agent: must be an object with the properties to set, got ${show(agent)}.`);
  if (agent.agent_id !== undefined && agent.agent_id !== agentId)
    throw invalid(`agent_id: is ${show(agent.agent_id)}, but the call is about "${agentId}".`);
  return (document, now) => {
    const at = document.agents.findIndex(({ agent_id }) => agent_id === agentId);
    const before = (document.agents[at] ?? {
      agent_id: agentId,
      agent_name: agentId,
      ...agentDefaults,
    }) as unknown as JsonObject;
    const next = timed(before, agent, now);
    const agents = (at < 0
      ? [...document.agents, next]
      : document.agents.with(at, next as unknown as WorkflowAgent)) as unknown as JsonObject[];
    return changed(document, { agents }, now);
  };
}

function timed(before: JsonObject, given: JsonObject, now: number): JsonObject {
  const next: Record<string, JsonObject[string]> = { ...before, ...given };
  const at = new Date(now).toISOString();
  const told = (name: string): boolean => given[name] !== undefined;
  if (next["status"] === "in_progress" && before["status"] !== "in_progress") {
    // A retry: the times of an earlier attempt are discarded.
    if (!told("started_at")) next["started_at"] = isOver(before["status"]) ? at : (before["started_at"] ?? at);
    if (!told("completed_at")) next["completed_at"] = null;
    if (!told("duration_ms")) next["duration_ms"] = null;
  }
  if (isOver(next["status"])) {
    next["completed_at"] ??= at;
    const [from, to] = [next["started_at"], next["completed_at"]];
    if (typeof from === "string" && typeof to === "string")
      next["duration_ms"] ??= Math.max(0, Date.parse(to) - Date.parse(from));
  }
  return next;
}
