/** Completes a caller's input to a whole document: defaults, validation, nothing else changed. */
import { randomUUID } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { validateDocument } from "../../containers/validate.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import { checkItemTtl } from "../../domain/ttl.ts";
import { refuseMisplaced } from "../misplaced.ts";
import { checkCheckpoint } from "./checkpoint-item.ts";
import { containerName } from "./definition.ts";
import { workflowLimits } from "./limits.ts";
import { withProgress } from "./progress.ts";
import type { WorkflowDocument } from "./transitions.ts";
import { WorkflowSchema, workflowFields } from "./workflow-schema.ts";

export function completeWorkflow(caller: Caller, input: unknown, now: number): WorkflowDocument {
  if (!isJsonObject(input)) throw invalid("A workflow must be an object with type, name and total_steps.");
  // For a workflow that was read: its view.
  const { checkpoints_omitted: _omitted, ...given } = withoutSystemProperties(input);
  requireWorkspace(caller, given["workspace_id"]);
  refuseMisplaced(given, workflowFields);
  const at = new Date(now).toISOString();
  const over = ["completed", "failed", "cancelled"].includes(given["status"] as string);
  const metadata =
    given["metadata"] === undefined || isJsonObject(given["metadata"])
      ? absent({ created_by: caller.userId }, given["metadata"] ?? {})
      : undefined;
  const whole = absent(
    {
      id: randomUUID(),
      workflow_id: randomUUID(),
      workspace_id: caller.scope.tenant,
      created_at: at,
      updated_at: at,
      ...(over ? { completed_at: at } : {}),
    },
    metadata === undefined ? given : { ...given, metadata },
  );
  return checkWorkflow(whole, now);
}

/** The rules of the document. Checkpoints are validated one by one: the schema does not cover their state. */
export function checkWorkflow(document: JsonObject, now: number): WorkflowDocument {
  const { checkpoints = [] } = document;
  if (!Array.isArray(checkpoints)) throw invalid("checkpoints: must be a list.");
  const count = checkpoints.length;
  if (count > workflowLimits.checkpointsPerCreateMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `checkpoints: ${count} are too many at once; at most ${workflowLimits.checkpointsPerCreateMax} are allowed. Add the others one by one.`,
    );
  const checked = validateDocument(containerName, WorkflowSchema, { ...document, checkpoints: [] });
  checkItemTtl(checked["ttl"]);
  const kept = (checkpoints as readonly JsonObject[]).map((one, i) => {
    const { checkpoint } = checkCheckpoint(one, `checkpoints[${i}]`, now);
    return absent(checkpoint as unknown as JsonObject, one);
  });
  return withProgress({ ...checked, checkpoints: kept } as unknown as WorkflowDocument);
}

/** A caller's documents belong to its workspace. */
export function requireWorkspace(caller: Caller, workspace: unknown): void {
  if (workspace === undefined || workspace === caller.scope.tenant) return;
  throw foreignWorkspace();
}

/** Existing properties in their order, then the missing ones. */
function absent(defaults: JsonObject, given: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([key]) => given[key] === undefined);
  return missing.length === 0 ? given : { ...given, ...Object.fromEntries(missing) };
}

export function foreignWorkspace(): PinakesError {
  return new PinakesError(
    "FORBIDDEN",
    "workspace_id: is not the caller's workspace. Omit it, or call as a user of that workspace.",
  );
}
