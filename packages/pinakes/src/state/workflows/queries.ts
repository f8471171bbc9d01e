/** Lists and counts of workflows, by index over a whole workspace. */
import {
  workflowStatuses,
  workflowTypes,
  type Page,
  type Stored,
  type Workflow,
  type WorkflowQuery,
  type WorkflowStats,
} from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { JsonScalar, JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore, Query, SessionTokens, Item } from "../../ports/item-store.ts";
import { containerName } from "./definition.ts";
import { checkLimit } from "./paging.ts";
import { limits } from "../../domain/limits.ts";
import { latestId, latestOf } from "./latest.ts";
import { leaseId, leaseOf } from "./lease.ts";
import { withProgress } from "./progress.ts";
import type { WorkflowDocument } from "./transitions.ts";
import { stored } from "./stored.ts";

/** Newest first; of one type, last changed first. */
export async function listWorkflows(
  items: ItemStore,
  scope: Scope,
  {
    status,
    type,
    order = "desc",
    limit,
    cursor,
    session,
  }: WorkflowQuery & { readonly session?: SessionTokens | undefined },
): Promise<Page<Stored<Workflow>>> {
  if (status !== undefined) requireOneOf("status", status, workflowStatuses);
  if (type !== undefined) requireOneOf("type", type, workflowTypes);
  requireOneOf("order", order, ["asc", "desc"]);
  const page = await items.query(scope, containerName, {
    ...indexFor(scope, { status, type }),
    // The indexes are in descending order.
    order: order === "desc" ? "asc" : "desc",
    limit: checkLimit(limit),
    cursor,
    session,
  });
  const documents = await documentsWithProgress(items, scope, page.items);
  return {
    items: page.items.map((item, i) => stored({ ...documents[i], checkpoints: [] }, item)),
    next_cursor: page.cursor ?? null,
  };
}

function indexFor(
  { tenant }: Scope,
  { status, type }: Pick<WorkflowQuery, "status" | "type">,
): Pick<Query, "index" | "equals" | "range" | "filter"> {
  if (status !== undefined)
    return {
      index: "byStatus",
      equals: { workspace_id: tenant, status },
      ...(type === undefined ? {} : { filter: { type } }),
    };
  if (type !== undefined) return { index: "byType", equals: { workspace_id: tenant, type } };
  // Checkpoints have no creation time.
  return { index: "byCreated", equals: { workspace_id: tenant }, range: { gte: "" } };
}

export async function countWorkflows(items: ItemStore, scope: Scope): Promise<WorkflowStats> {
  const count = async (index: string, equals: Readonly<Record<string, JsonScalar>>) =>
    items.count(scope, containerName, { index, equals: { workspace_id: scope.tenant, ...equals } });
  const [statuses, types] = await Promise.all([
    Promise.all(workflowStatuses.map(async (status) => [status, await count("byStatus", { status })] as const)),
    Promise.all(workflowTypes.map(async (type) => [type, await count("byType", { type })] as const)),
  ]);
  const total = statuses.reduce((sum, [, of]) => sum + of, 0);
  return {
    total,
    by_status: Object.fromEntries(statuses) as WorkflowStats["by_status"],
    by_type: Object.fromEntries(types) as WorkflowStats["by_type"],
  };
}

function requireOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (!allowed.includes(value as string))
    throw invalid(`${name}: must be one of ${allowed.join(", ")}, got ${show(value)}.`);
}

const companions = [leaseId, latestId];
const workflowsPerReadMax = limits.readManyKeysMax / companions.length;

/**
 * The progress of the workflows of a page, as in `get`. Their companions are read from the base table concurrently, and
 * only for those with remaining steps: a checkpoint cannot change the others. In the order of the workflows.
 */
async function documentsWithProgress(
  items: ItemStore,
  scope: Scope,
  workflows: readonly Item[],
): Promise<readonly JsonObject[]> {
  const unfinished = workflows.map(documentOf).filter(({ current_step, total_steps }) => current_step < total_steps);
  const reads: Promise<readonly WorkflowDocument[]>[] = [];
  for (let start = 0; start < unfinished.length; start += workflowsPerReadMax)
    reads.push(readProgress(items, scope, unfinished.slice(start, start + workflowsPerReadMax)));
  const far = new Map((await Promise.all(reads)).flat().map((document) => [document.workflow_id, document]));
  return workflows.map((item) => (far.get(documentOf(item).workflow_id) ?? item.document) as unknown as JsonObject);
}

async function readProgress(
  items: ItemStore,
  scope: Scope,
  documents: readonly WorkflowDocument[],
): Promise<readonly WorkflowDocument[]> {
  const keys = documents.flatMap(({ workflow_id }) => companions.map((id) => ({ partition: [workflow_id], id })));
  const found = await items.readMany(scope, containerName, keys);
  return documents.map((document, i) =>
    withProgress(document, latestOf(found[2 * i + 1], leaseOf(found[2 * i], document.workflow_id))),
  );
}

const documentOf = (item: Item): WorkflowDocument => item.document as unknown as WorkflowDocument;
