/** What an update of a workflow changed: the properties that differ from what was read. */
import type { Stored, Workflow, WorkflowChange } from "../contract/state.ts";

/** Not the caller's to change: identity, what has calls of its own, and what the store writes. */
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
    ([name, value]) => !fixed.has(name) && value !== undefined && !equal(known.get(name), value),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Of JSON values, whatever the order of their keys. */
function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (
    typeof a !== "object" ||
    typeof b !== "object" ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false;
  const keys = Object.keys(a);
  const [left, right] = [a, b] as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]))
  );
}
