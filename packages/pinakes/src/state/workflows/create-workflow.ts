/**
 * Creates a workflow: one batch with its document and its lease. Checkpoints that are too large for the document are written before,
 * under a life that becomes the workflow's in that batch; until then, and forever if it fails, they are invisible.
 */
import { hash } from "node:crypto";
import type { CreateOptions, NewWorkflow, Stored, Workflow } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { checkCheckpoint, type CheckedCheckpoint } from "./checkpoint-item.ts";
import type { CheckpointWrites } from "./checkpoint-writes.ts";
import { clean, marker, markerId } from "./clean.ts";
import { containerName } from "./definition.ts";
import { createMsMax, DueWork, nextDue } from "./due-work.ts";
import { latestOf, newLatest, type LatestRecord } from "./latest.ts";
import { leaseOf, newLease, type LeaseRecord } from "./lease.ts";
import { workflowLimits } from "./limits.ts";
import { completeWorkflow } from "./new-workflow.ts";
import type { Partitions } from "./partitions.ts";
import { shown } from "./progress.ts";
import { versionOf } from "./stored.ts";
import type { WorkflowDocument } from "./transitions.ts";

const attemptsMax = 5;

export class Creation {
  readonly #deps: StateDependencies;
  readonly #partitions: Partitions;
  readonly #checkpoints: CheckpointWrites;
  readonly #due: DueWork;

  constructor(deps: StateDependencies, partitions: Partitions, checkpoints: CheckpointWrites) {
    this.#deps = deps;
    this.#partitions = partitions;
    this.#checkpoints = checkpoints;
    this.#due = new DueWork(deps);
  }

  async create(caller: Caller, input: NewWorkflow, { idempotencyKey }: CreateOptions): Promise<Stored<Workflow>> {
    const { scope } = caller;
    const created_with = idempotencyKey === undefined ? undefined : creationOf(caller, input, idempotencyKey);
    const named =
      created_with === undefined || !isJsonObject(input) || input.workflow_id !== undefined
        ? input
        : { ...input, workflow_id: `wf-${created_with.key}` };
    const now = this.#deps.clock.now();
    const whole = completeWorkflow(caller, named, now);
    const large = largeCheckpoints(whole, now);
    const document = large.length === 0 ? whole : { ...whole, checkpoints: [] };
    for (let attempt = 1; ; attempt += 1) {
      const found = attempt === 1 ? undefined : await this.#existing(scope, whole.workflow_id, created_with);
      if (found !== undefined && "workflow" in found) return found.workflow;
      const lease = newLease(whole.workflow_id, {
        workflow: whole.id,
        ...(created_with === undefined ? {} : { created_with }),
        ...(found === undefined ? {} : { fencing_token: (found.lease.document as LeaseRecord).fencing_token }),
      });
      try {
        return await this.#write(scope, document, large, { lease, leftover: found?.lease });
      } catch (error) {
        await this.#undo(scope, document.workflow_id, large);
        const beaten = isConflict(error);
        if (!beaten || attempt >= attemptsMax) throw error;
      }
    }
  }

  async #write(
    scope: Scope,
    document: WorkflowDocument,
    large: readonly CheckedCheckpoint[],
    { lease, leftover }: { lease: LeaseRecord; leftover: Item | undefined },
  ): Promise<Stored<Workflow>> {
    const { workflow_id: workflowId } = document;
    const { items, clock } = this.#deps;
    const now = clock.now();
    const ttl = items.defaultTtl(scope, containerName);
    const due =
      large.length > 0 || leftover !== undefined ? now + createMsMax : nextDue(document, { modifiedAt: now, now, ttl });
    if (due !== null) await this.#due.mark(scope.tenant, workflowId, due);
    const checkpoints: Operation[] = [];
    let record: LatestRecord | undefined;
    if (large.length > 0) {
      await items.batch(scope, containerName, [workflowId], [marker(workflowId, lease.life)]);
      const latest = await this.#checkpoints.writeAll(scope, large, {
        tenant: scope.tenant,
        workflowId,
        life: lease.life,
      });
      record = newLatest(workflowId, lease.life, latest, large.length);
      checkpoints.push({ op: "delete", id: markerId(lease.life) }, { op: "upsert", document: record });
    }
    const operations: Operation[] = [
      { op: "create", document: document as unknown as JsonObject },
      leftover === undefined
        ? { op: "create", document: lease }
        : { op: "replace", document: lease, ifMatch: leftover.etag },
      ...checkpoints,
    ];
    const { results } = await items.batch(scope, containerName, [workflowId], operations);
    this.#partitions.remember(scope, workflowId, document.id);
    return shown(document as unknown as JsonObject, record, versionOf(results[0]));
  }

  /** Why the create failed: the workflow exists, or only the lease of an expired one. */
  async #existing(
    scope: Scope,
    workflowId: string,
    created_with: LeaseRecord["created_with"],
  ): Promise<{ workflow: Stored<Workflow> } | { lease: Item } | undefined> {
    const { workflow, lease, latest } = await this.#partitions.all(scope, workflowId);
    if (workflow === undefined) return lease === undefined ? undefined : { lease };
    const known = (lease?.document as LeaseRecord | undefined)?.created_with;
    if (created_with === undefined || known?.key !== created_with.key)
      throw new PinakesError(
        "CONFLICT",
        `Workflow "${workflowId}" already exists. Choose another workflow_id, or change the existing one.`,
        {
          currentEtag: workflow.etag,
        },
      );
    if (known.body === created_with.body)
      return { workflow: shown(workflow.document, latestOf(latest, leaseOf(lease, workflowId)), workflow) };
    throw new PinakesError(
      "CONFLICT",
      "idempotencyKey: was used before to create another workflow. Use a new key for every workflow.",
    );
  }

  /** Leftovers of a failed create are removed immediately; otherwise the sweep removes them. */
  async #undo(scope: Scope, workflowId: string, large: readonly CheckedCheckpoint[]): Promise<void> {
    if (large.length === 0) return;
    await clean(this.#deps, scope, workflowId).catch((error: unknown) =>
      this.#deps.log(`state: cleaning up workflow ${workflowId}: ${String(error)}`),
    );
  }
}

/** All of them, if they are too large to stay inside. */
function largeCheckpoints({ checkpoints }: WorkflowDocument, now: number): readonly CheckedCheckpoint[] {
  const checked = checkpoints.map((one, i) => checkCheckpoint(one as unknown as JsonObject, `checkpoints[${i}]`, now));
  const bytes = checked.reduce((sum, one) => sum + one.bytes, 0);
  return bytes <= workflowLimits.inlineCheckpointsBytesMax ? [] : checked;
}

function creationOf(caller: Caller, input: NewWorkflow, key: string): { key: string; body: string } {
  const { idempotencyKeyCharsMax } = workflowLimits;
  if (typeof key !== "string" || key === "" || key.length > idempotencyKeyCharsMax)
    throw invalid(`idempotencyKey: must be a string of 1–${idempotencyKeyCharsMax} characters, got ${show(key)}.`);
  return {
    key: hash("sha256", JSON.stringify([caller.userId, key]), "hex").slice(0, 32),
    body: hash("sha256", sorted(input as unknown as JsonValue), "hex"),
  };
}

/** The same text for the same content, whatever the order of its properties. */
function sorted(value: JsonValue): string {
  return JSON.stringify(value, (_, part: JsonValue) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
