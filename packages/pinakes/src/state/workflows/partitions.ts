/**
 * Finds a workflow: the document that the lease of its partition names, or the first one if there is no lease or it names none. A process
 * caches the ids of workflows it has seen, so that most reads are point reads. The cache may be outdated: the read decides.
 */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore, RawItem } from "../../ports/item-store.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { containerName } from "./definition.ts";
import { latestId } from "./latest.ts";
import { leaseId, namesDocument, type LeaseRecord } from "./lease.ts";
import { workflowLimits } from "./limits.ts";

export interface Found {
  readonly workflow: Item | undefined;
  readonly lease: Item | undefined;
  readonly latest: Item | undefined;
  /** The checkpoint that `latest` named at the last read, if requested; the caller verifies it. */
  readonly checkpoint?: Item | undefined;
}

interface Known {
  readonly id: string;
  readonly checkpointId?: string;
}

export class Partitions {
  readonly #items: ItemStore;
  readonly #known = new Map<string, Known>();

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async workflow(scope: Scope, workflowId: string): Promise<Item | undefined> {
    const key = keyOf(scope, workflowId);
    const id = this.#known.get(key)?.id;
    if (id !== undefined) {
      const item = await this.#items.read(scope, containerName, { partition: [workflowId], id });
      if (item !== undefined) return item;
      this.#known.delete(key);
    }
    return this.#first(scope, workflowId);
  }

  /** The stored document, if this process knows its id and no checkpoints were added; otherwise undefined, and `all` decides. */
  async raw(scope: Scope, workflowId: string): Promise<RawItem | undefined> {
    const id = this.#known.get(keyOf(scope, workflowId))?.id;
    if (id === undefined) return undefined;
    const partition = [workflowId];
    const [workflow, [lease, latest]] = await Promise.all([
      this.#items.readRaw(scope, containerName, { partition, id }),
      this.#items.readMany(scope, containerName, [
        { partition, id: leaseId },
        { partition, id: latestId },
      ]),
    ]);
    return latest === undefined && namesDocument(lease, id) ? workflow : undefined;
  }

  /** With the last known latest checkpoint: it usually still is, and then one read returns everything. */
  async all(scope: Scope, workflowId: string, options: { readonly withCheckpoint?: boolean } = {}): Promise<Found> {
    const partition = [workflowId];
    const key = keyOf(scope, workflowId);
    const known = this.#known.get(key);
    if (known !== undefined) {
      const guess = options.withCheckpoint === true ? known.checkpointId : undefined;
      // Concurrently: the small ones are cheap together, the large one is cheaper alone.
      const [[workflow, lease, latest], checkpoint] = await Promise.all([
        this.#items.readMany(
          scope,
          containerName,
          [known.id, leaseId, latestId].map((id) => ({ partition, id })),
        ),
        guess === undefined ? undefined : this.#items.read(scope, containerName, { partition, id: guess }),
      ]);
      if (workflow !== undefined && namesDocument(lease, workflow.id)) return { workflow, lease, latest, checkpoint };
      this.#known.delete(key);
    }
    // Companions last: those found belong to this workflow or to a later one, which the batch verifies.
    const workflow = await this.#first(scope, workflowId);
    const [lease, latest] = await this.#items.readMany(scope, containerName, [
      { partition, id: leaseId },
      { partition, id: latestId },
    ]);
    return { workflow, lease, latest };
  }

  remember(scope: Scope, workflowId: string, id: string, checkpointId?: string): void {
    const { knownIdsMax } = workflowLimits;
    const key = keyOf(scope, workflowId);
    if (this.#known.size >= knownIdsMax && !this.#known.has(key)) {
      const [oldest] = this.#known.keys();
      this.#known.delete(oldest as string);
    }
    this.#known.set(key, checkpointId === undefined ? { id } : { id, checkpointId });
  }

  async #first(scope: Scope, workflowId: string): Promise<Item | undefined> {
    const partition = [workflowId];
    const lease = await this.#items.read(scope, containerName, { partition, id: leaseId });
    const id = (lease?.document as LeaseRecord | undefined)?.workflow;
    if (id !== undefined) {
      const named = await this.#items.read(scope, containerName, { partition, id });
      if (named !== undefined) this.remember(scope, workflowId, id);
      return named;
    }
    const page = await this.#items.query(scope, containerName, {
      equals: { workflow_id: workflowId },
      range: { lt: reservedIdPrefix },
      limit: 1,
    });
    const [item] = page.items;
    if (item !== undefined) this.remember(scope, workflowId, item.id);
    return item;
  }
}

const keyOf = (scope: Scope, workflowId: string): string => `${scope.tenant} ${workflowId}`;

export function checkWorkflowId(workflowId: unknown): string {
  if (typeof workflowId === "string" && workflowId !== "" && workflowId.length <= workflowLimits.workflowIdCharsMax)
    return workflowId;
  throw invalid(
    `workflow_id: must be a string of 1–${workflowLimits.workflowIdCharsMax} characters, got ${show(workflowId)}.`,
  );
}

/** The same error whether it belongs to another workspace or never existed. */
export function noWorkflow(workflowId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no workflow "${workflowId}" here.`);
}
