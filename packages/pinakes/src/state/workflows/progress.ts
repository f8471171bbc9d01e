/**
 * How far a workflow has come. A checkpoint leaves the document alone, so that it costs the same beside a document of any size and no
 * etag changes under whoever is about to write it. So the latest checkpoint counts where a workflow is shown or changed: it stands at
 * `current_step` or at the step of that checkpoint, whichever is larger. What the next change of the document writes says the same.
 * Checkpoints inside the document count too; since they are written with it, every write of the document already has their step.
 */
import type { Stored, Workflow } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import { stepIn } from "./checkpoint-item.ts";
import type { LatestRecord } from "./latest.ts";
import { stored, type Version } from "./stored.ts";
import type { WorkflowDocument } from "./transitions.ts";

/** The step of the latest checkpoint that was added; 0 before the first. */
function stepDone(latest: LatestRecord | undefined): number {
  return latest === undefined ? 0 : stepIn(latest.checkpoint_id);
}

/** The same with the checkpoints inside the document. */
export function stepReached(
  { checkpoints }: Pick<WorkflowDocument, "checkpoints">,
  latest: LatestRecord | undefined,
): number {
  // A document written behind the API may lack its list.
  return ((checkpoints ?? []) as readonly { readonly step: number }[]).reduce(
    (most, { step }) => Math.max(most, step),
    stepDone(latest),
  );
}

export function withProgress(document: WorkflowDocument, latest?: LatestRecord): WorkflowDocument {
  const done = Math.min(stepReached(document, latest), document.total_steps);
  return done > document.current_step ? { ...document, current_step: done } : document;
}

/** As a change answers it: with the checkpoints inside the document, and how many others there are. */
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
