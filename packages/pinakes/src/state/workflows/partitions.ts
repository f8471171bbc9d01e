/**
 * Finding a workflow. It is the first item of its partition, which one read of the base table shows; a process remembers the ids of
 * workflows it has seen, so that the usual read is a point read. What is remembered may be outdated, never wrong: the read decides.
 */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore } from "../../ports/item-store.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { containerName } from "./definition.ts";
import { latestId } from "./latest.ts";
import { leaseId } from "./lease.ts";
import { workflowLimits } from "./limits.ts";

export interface Found {
  readonly workflow: Item | undefined;
  readonly lease: Item | undefined;
  readonly latest: Item | undefined;
}

export class Partitions {
  readonly #items: ItemStore;
  readonly #ids = new Map<string, string>();

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async workflow(scope: Scope, workflowId: string): Promise<Item | undefined> {
    const key = keyOf(scope, workflowId);
    const id = this.#ids.get(key);
    if (id !== undefined) {
      const item = await this.#items.read(scope, containerName, { partition: [workflowId], id });
      if (item !== undefined) return item;
      this.#ids.delete(key);
    }
    return this.#first(scope, workflowId);
  }

  async all(scope: Scope, workflowId: string): Promise<Found> {
    const partition = [workflowId];
    const key = keyOf(scope, workflowId);
    const id = this.#ids.get(key);
    if (id !== undefined) {
      const [workflow, lease, latest] = await this.#items.readMany(scope, containerName, [
        { partition, id },
        { partition, id: leaseId },
        { partition, id: latestId },
      ]);
      if (workflow !== undefined) return { workflow, lease, latest };
      this.#ids.delete(key);
    }
    // The companions last: those that are seen belong to this workflow or to a later one, and a batch will tell.
    const workflow = await this.#first(scope, workflowId);
    const [lease, latest] = await this.#items.readMany(scope, containerName, [
      { partition, id: leaseId },
      { partition, id: latestId },
    ]);
    return { workflow, lease, latest };
  }

  remember(scope: Scope, workflowId: string, id: string): void {
    const { knownIdsMax } = workflowLimits;
    const key = keyOf(scope, workflowId);
    if (this.#ids.size >= knownIdsMax && !this.#ids.has(key)) {
      const [oldest] = this.#ids.keys();
      this.#ids.delete(oldest as string);
    }
    this.#ids.set(key, id);
  }

  async #first(scope: Scope, workflowId: string): Promise<Item | undefined> {
    const page = await this.#items.query(scope, containerName, { equals: { workflow_id: workflowId }, range: { lt: reservedIdPrefix }, limit: 1 });
    const [item] = page.items;
    if (item !== undefined) this.remember(scope, workflowId, item.id);
    return item;
  }
}

const keyOf = (scope: Scope, workflowId: string): string => `${scope.tenant} ${workflowId}`;

export function checkWorkflowId(workflowId: unknown): string {
  if (typeof workflowId === "string" && workflowId !== "" && workflowId.length <= workflowLimits.workflowIdCharsMax) return workflowId;
  throw invalid(`workflow_id: must be a text of 1–${workflowLimits.workflowIdCharsMax} characters, got ${show(workflowId)}.`);
}

/** The same whether it is another workspace's or never was. */
export function noWorkflow(workflowId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no workflow "${workflowId}" here.`);
}
