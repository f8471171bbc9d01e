/**
 * The progress of a workflow. A checkpoint does not change the document, so its cost does not depend on the document's size and no
 * etag changes under a concurrent writer. So the latest checkpoint counts wherever a workflow is shown or changed: its progress is
 * the larger of `current_step` and the step of that checkpoint. The next write of the document stores it.
 * Checkpoints inside the document count too; every write of the document already includes their step.
 */
import type { Stored, Workflow } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import { stepIn } from "./checkpoint-item.ts";
import type { LatestRecord } from "./latest.ts";
import { stored, type Version } from "./stored.ts";
import type { WorkflowDocument } from "./transitions.ts";

/** The step of the latest added checkpoint; 0 without one. */
function stepDone(latest: LatestRecord | undefined): number {
  return latest === undefined ? 0 : stepIn(latest.checkpoint_id);
}

/** The same with the checkpoints inside the document. */
export function stepReached(
  { checkpoints }: Pick<WorkflowDocument, "checkpoints">,
  latest: LatestRecord | undefined,
): number {
  // A document written directly to the store may lack its list.
  return ((checkpoints ?? []) as readonly { readonly step: number }[]).reduce(
    (most, { step }) => Math.max(most, step),
    stepDone(latest),
  );
}

export function withProgress(document: WorkflowDocument, latest?: LatestRecord): WorkflowDocument {
  const done = Math.min(stepReached(document, latest), document.total_steps);
  return done > document.current_step ? { ...document, current_step: done } : document;
}

/** The result of a change: with the checkpoints inside the document, and the number of others. */
export function shown(document: JsonObject, latest: LatestRecord | undefined, version: Version): Stored<Workflow> {
  const far = withProgress(document as unknown as WorkflowDocument, latest) as unknown as JsonObject;
  return stored(latest === undefined ? far : { ...far, checkpoints_omitted: latest.count }, version);
}

/** The same without any checkpoint. */
export function shownAlone(document: JsonObject, latest: LatestRecord | undefined, version: Version): Stored<Workflow> {
  const omitted = ((document["checkpoints"] ?? []) as readonly unknown[]).length + (latest?.count ?? 0);
  const alone = { ...shown(document, latest, version), checkpoints: [] };
  return omitted === 0 ? alone : { ...alone, checkpoints_omitted: omitted };
}
