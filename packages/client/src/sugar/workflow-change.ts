/** The changes of a workflow update: the properties that differ from those read. */
import { isSameJson } from "./is-same-json.ts";
import type { Stored, Workflow, WorkflowChange } from "../contract/state.ts";

/** Properties that the caller cannot change: the identity, those with their own calls, and those the store writes. */
const fixed: ReadonlySet<string> = new Set([
  "id",
  "workflow_id",
  "workspace_id",
  "checkpoints",
  "checkpoints_omitted",
  "created_at",
  "_etag",
  "_ts",
]);

/** Undefined when nothing is to be written. */
export function workflowChange(before: Stored<Workflow>, after: WorkflowChange): WorkflowChange | undefined {
  const known = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => !fixed.has(name) && value !== undefined && !isSameJson(known.get(name), value),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
