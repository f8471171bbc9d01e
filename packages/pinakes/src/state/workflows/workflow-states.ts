/** The container `workflow-states` for the containers API: writes through it follow the rules of workflows, too. */
import type { IndexingPolicy } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
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
  otherCompanions,
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
  if (next["created_at"] !== old.created_at) throw invalid("created_at: never changes. Omit it.");
  const checked = checkWorkflow(next, now);
  const keys = Object.keys(given).filter((key) => JSON.stringify(given[key]) !== JSON.stringify(before[key]));
  return afterTransition(old, checked, new Set(keys), now) as unknown as JsonObject;
}

/**
 * The lease is created and removed with the workflow, the document that it names, and a change is rejected while the lease is held. If the
 * time is unknown, any holder counts. In a new partition the first document becomes the workflow.
 */
function companions(operations: readonly Operation[], now?: number): readonly Operation[] {
  const { created, deleted, changed } = documentsOf(operations);
  const changes = changed.map(() => change(free(now)));
  const [first] = created;
  if (first !== undefined) return [...changes, { op: "create", document: leaseWith(first) }];
  if (deleted.length === 0) return changes;
  const where = { and: [free(now), { or: [{ workflow: { in: deleted } }, { workflow: { exists: false } }] }] };
  return [...changes, { op: "delete", id: leaseId, where }];
}

/**
 * Documents that are added to a partition, or taken from it, beside the workflow: its lease stays. Where the workflow was deleted and
 * nobody used the others as one, there is no lease.
 */
function otherCompanions(operations: readonly Operation[], now?: number): readonly (readonly Operation[])[] {
  const { created, deleted } = documentsOf(operations);
  const named = { workflow: { exists: true, ...(deleted.length === 0 ? {} : { nin: deleted }) } };
  const beside = created.length + deleted.length === 0 ? [] : [[change({ and: [free(now), named] })]];
  return created.length > 0 ? beside : [...beside, [{ op: "check", id: leaseId, exists: false }]];
}

interface Documents {
  readonly created: readonly JsonObject[];
  readonly deleted: readonly string[];
  readonly changed: readonly Operation[];
}

function documentsOf(operations: readonly Operation[]): Documents {
  const own = operations.filter((operation) => {
    const id = "id" in operation ? operation.id : operation.document["id"];
    // A write without a read is repeated by its batch: the preceding operation had its companion.
    const blind = operation.op === "upsert" && operation.ifMatch === undefined;
    return operation.op !== "check" && !blind && !(typeof id === "string" && id.startsWith(reservedIdPrefix));
  });
  return {
    created: own.flatMap((operation) => (operation.op === "create" ? [operation.document] : [])),
    deleted: own.flatMap((operation) => (operation.op === "delete" ? [operation.id] : [])),
    changed: own.filter(({ op }) => op !== "create" && op !== "delete"),
  };
}

function leaseWith({ id, workflow_id, ttl }: JsonObject): JsonObject {
  const { ttl: _never, ...lease } = newLease(workflow_id as string, { workflow: id as string });
  // It is not processed until it is used as a workflow: otherwise it expires with the document.
  return { ...lease, ...(ttl === undefined ? {} : { ttl }) };
}

function free(now: number | undefined): Filter {
  const ended = now === undefined ? [] : [{ expires_at: { lte: new Date(now).toISOString() } }];
  return { or: [{ owner: null }, ...ended] };
}

function change(where: Filter): Operation {
  return { op: "patch", id: leaseId, patch: [{ op: "incr", path: "/changes", value: 1 }], where };
}

/** Only the holder of the lease changes the partition. */
function refusal(_companion: Operation, [workflowId]: Partition): string {
  return `Workflow ${show(workflowId)} is leased to a worker, and only the holder may change it. Send the change to the workflows API with its fencing token, or try again after the lease has expired.`;
}
