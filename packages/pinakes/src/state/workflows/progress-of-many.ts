/**
 * How far the workflows of a page have come, as `get` tells it of each. Their companions are read from the base table, many at once, and
 * only of those that have steps left: a checkpoint cannot move the others.
 */
import type { JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore } from "../../ports/item-store.ts";
import { containerName } from "./definition.ts";
import { latestId, latestOf } from "./latest.ts";
import { leaseId, leaseOf } from "./lease.ts";
import { withProgress } from "./progress.ts";
import type { WorkflowDocument } from "./transitions.ts";

const companions = [leaseId, latestId];
const workflowsPerReadMax = limits.readManyKeysMax / companions.length;

/** In the order of the workflows. */
export async function documentsWithProgress(
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
