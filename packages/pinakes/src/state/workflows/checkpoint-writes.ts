/** Adds checkpoints: one to a workflow, or those of a new workflow that are too large for its document. */
import type { Checkpoint, NewCheckpoint, WorkflowWrite } from "@pinakes/client";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import type { Changes } from "./change-workflow.ts";
import {
  aboutBytes,
  checkCheckpoint,
  isSpilled,
  objectPrefix,
  spilledBody,
  toItem,
  type CheckedCheckpoint,
  type CheckpointItem,
  type CheckpointPartition,
} from "./checkpoint-item.ts";
import { containerName } from "./definition.ts";
import { createMsMax, DueWork, needsRenewal } from "./due-work.ts";
import { latestOf, latestOperation } from "./latest.ts";
import { workflowLimits } from "./limits.ts";
import type { WorkflowDocument } from "./transitions.ts";

export class CheckpointWrites {
  readonly #deps: StateDependencies;
  readonly #changes: Changes;
  readonly #due: DueWork;

  constructor(deps: StateDependencies, changes: Changes) {
    this.#deps = deps;
    this.#changes = changes;
    this.#due = new DueWork(deps);
  }

  /** Writes this item and its position. The workflow is touched only after half of its time to live. */
  async append(scope: Scope, workflowId: string, input: NewCheckpoint, options: WorkflowWrite): Promise<Checkpoint> {
    const checked = checkCheckpoint(input, "checkpoint", this.#deps.clock.now(), aboutBytes);
    await this.#changes.run(scope, workflowId, options, async ({ workflow, document, lease, latestItem, now }) => {
      requireProgress(document, checked.checkpoint.step);
      const place = { tenant: scope.tenant, workflowId, life: lease.life };
      // If the workflow were deleted while the object is written, no record would name the object.
      if (isSpilled(checked)) await this.#due.mark(scope.tenant, workflowId, now + createMsMax);
      const item = await this.#item(scope, checked, place, (latestOf(latestItem, lease)?.count ?? 0) + 1);
      return {
        operations: [{ op: "create", document: item }, latestOperation(latestItem, lease, item.id)],
        touch: needsRenewal(workflow, this.#deps.items.defaultTtl(scope, containerName), now),
      };
    });
    return { ...checked.checkpoint, ...checked.more };
  }

  /** Writes all of them in few batches; returns the latest. They are invisible before the workflow's lease names their life. */
  async writeAll(scope: Scope, checkpoints: readonly CheckedCheckpoint[], place: CheckpointPartition): Promise<string> {
    let batch: Operation[] = [];
    let bytes = 0;
    let latest = "";
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await this.#deps.items.batch(scope, containerName, [place.workflowId], batch);
      [batch, bytes] = [[], 0];
    };
    for (const [i, checked] of checkpoints.entries()) {
      const size = isSpilled(checked) ? 0 : checked.bytes;
      if (batch.length >= workflowLimits.batchOperationsMax || bytes + size > workflowLimits.batchBytesMax)
        await flush();
      const item = await this.#item(scope, checked, place, i + 1);
      if (item.id > latest) latest = item.id;
      batch.push({ op: "create", document: item });
      bytes += size;
    }
    await flush();
    return latest;
  }

  async #item(
    scope: Scope,
    checked: CheckedCheckpoint,
    place: CheckpointPartition,
    number: number,
  ): Promise<CheckpointItem> {
    if (!isSpilled(checked)) return toItem(checked, place, number);
    const { bytes, name } = spilledBody(checked);
    const key = `${objectPrefix(place.workflowId, place.life)}${name}`;
    await this.#deps.objects.put(scope, key, bytes);
    return toItem(checked, place, number, key);
  }
}

/** A late worker's checkpoint would be the start of a retry, or change a finished workflow. */
function requireProgress({ workflow_id, status, total_steps }: WorkflowDocument, step: number): void {
  if (status === "failed")
    throw new PinakesError(
      "CONFLICT",
      `Workflow "${workflow_id}" has failed and accepts no checkpoints; retry, skip or resume it first.`,
    );
  if (status === "completed" || status === "cancelled")
    throw new PinakesError(
      "CONFLICT",
      `Workflow "${workflow_id}" is ${status}: it has ended and accepts no checkpoints. Create another workflow to continue.`,
    );
  if (step > total_steps)
    throw invalid(
      `checkpoint.step: is ${step}, but workflow "${workflow_id}" has total_steps ${total_steps}. Raise total_steps first, or correct the step.`,
    );
}
