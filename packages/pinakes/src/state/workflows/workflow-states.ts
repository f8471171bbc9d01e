/** The container `workflow-states` for the containers API: writes through it follow the rules of workflows, too. */
import type { IndexingPolicy } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import type { Operation, Partition } from "../../ports/item-store.ts";
import { reservedIdPrefix, type GenericWrite, type SystemContainer } from "../system-container.ts";
import { definition } from "./definition.ts";
import { leaseId, newLease } from "./lease.ts";
import { checkWorkflow, completeWorkflow, requireWorkspace } from "./new-workflow.ts";
import { afterTransition, type WorkflowDocument } from "./transitions.ts";
import { WorkflowSchema } from "./workflow-schema.ts";

const policy: IndexingPolicy = {
  indexingMode: "consistent",
  automatic: true,
  includedPaths: [
    { path: "/workflow_id/?" },
    { path: "/workspace_id/?" },
    { path: "/status/?" },
    { path: "/type/?" },
    { path: "/created_at/?" },
    { path: "/updated_at/?" },
    { path: "/current_step/?" },
  ],
  excludedPaths: [{ path: "/_etag/?" }, { path: "/agents/*/result/*" }, { path: "/checkpoints/*/state/*" }],
  compositeIndexes: [
    [
      { path: "/workspace_id", order: "ascending" },
      { path: "/status", order: "ascending" },
      { path: "/created_at", order: "descending" },
    ],
    [
      { path: "/workspace_id", order: "ascending" },
      { path: "/type", order: "ascending" },
      { path: "/updated_at", order: "descending" },
    ],
  ],
};

export const workflowStates: SystemContainer = Object.freeze({
  definition,
  schema: WorkflowSchema,
  policy,
  scanIndex: "byCreated",
  // Checkpoints have no creation time.
  scanRange: { gte: "" },
  prepare,
  companions,
  refusal,
});

/** A new one is completed as by `create`; a replacement keeps immutable properties and must be a legal transition. */
function prepare({ caller, before, document, now }: GenericWrite): JsonObject {
  const given = withoutSystemProperties(document);
  if (before === undefined) return completeWorkflow(caller, given, now) as unknown as JsonObject;
  requireWorkspace(caller, given["workspace_id"]);
  const old = before as unknown as WorkflowDocument;
  const next: JsonObject = {
    workspace_id: caller.scope.tenant,
    created_at: old.created_at,
    ...given,
    updated_at: new Date(now).toISOString(),
  };
  if (next["created_at"] !== old.created_at) throw invalid("created_at: never changes. Leave it out.");
  const checked = checkWorkflow(next, now);
  const keys = Object.keys(given).filter((key) => JSON.stringify(given[key]) !== JSON.stringify(before[key]));
  return afterTransition(old, checked, new Set(keys), now) as unknown as JsonObject;
}

/**
 * The lease is created and removed with its workflow, and a change is rejected while the lease is held. If the time is unknown, any
 * holder counts.
 */
function companions(operations: readonly Operation[], now?: number): readonly Operation[] {
  return operations.flatMap((operation): Operation[] => {
    const id = "id" in operation ? operation.id : operation.document["id"];
    // A write without a read is repeated by its batch: the preceding operation had its companion.
    const blind = operation.op === "upsert" && operation.ifMatch === undefined;
    if (operation.op === "check" || blind || (typeof id === "string" && id.startsWith(reservedIdPrefix))) return [];
    if (operation.op === "create") {
      const { workflow_id, ttl } = operation.document;
      const { ttl: _never, ...lease } = newLease(workflow_id as string);
      // It is not processed until it is used as a workflow: otherwise it expires with the document.
      return [{ op: "create", document: { ...lease, ...(ttl === undefined ? {} : { ttl }) } }];
    }
    const ended = now === undefined ? [] : [{ expires_at: { lte: new Date(now).toISOString() } }];
    const where = { or: [{ owner: null }, ...ended] };
    if (operation.op === "delete") return [{ op: "delete", id: leaseId, where }];
    return [{ op: "patch", id: leaseId, patch: [{ op: "incr", path: "/changes", value: 1 }], where }];
  });
}

/** A workflow is identified by its workflow_id alone, so a partition has one document; only the lease's holder changes it. */
function refusal({ op }: Operation, [workflowId]: Partition): string {
  if (op === "create")
    return `Workflow ${show(workflowId)} exists already, and a workflow_id names one document. Change or delete that one, or choose another workflow_id; checkpoints are added with POST …/workflows/{workflow_id}/checkpoints.`;
  return `Workflow ${show(workflowId)} is leased to a worker, and only the holder may change it. Send the change to the workflows API with its fencing token, or try again after the lease has expired.`;
}
