/**
 * The records of an incarnation: documents, sources, counters, removals. The fence remains after a purge and refuses late writes
 * permanently.
 */
import { PinakesError } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import { ifMissing, tolerate } from "../../../runtime/expected-errors.ts";
import {
  operationItemId,
  type HeldIncarnations,
  type Incarnation,
  type Participant,
} from "../../../lifecycle/index.ts";
import { CollectionPartition } from "../../records/collection-partition.ts";
import { collectionsContainer, documentsContainer, itemIds } from "../../records/records.ts";
import { type Stores } from "./built-in.ts";

/** Per batch; every engine accepts this many. */
const batchItemsMax = 25;

export class DocumentsStore implements Participant {
  readonly store = "documents";
  readonly class = "object";
  readonly capabilities = { delete: true, archive: true, list: true };
  readonly #deps: Pick<Stores, "items">;

  constructor(deps: Pick<Stores, "items">) {
    this.#deps = deps;
  }

  async fence(scope: Scope, incarnation: Incarnation): Promise<void> {
    await this.#partition(scope, incarnation).setStatus("DELETED");
  }

  async unfence(scope: Scope, incarnation: Incarnation, { archived }: { readonly archived: boolean }): Promise<void> {
    await this.#partition(scope, incarnation).setStatus(archived ? "ARCHIVED" : "ACTIVE");
  }

  async deleteStep(
    scope: Scope,
    incarnation: Incarnation,
    { limit }: { readonly limit: number },
  ): Promise<{ deleted: number; done: boolean }> {
    const partition = this.#partition(scope, incarnation);
    await partition.setStatus("PURGED");
    const { items } = await this.#deps.items.query(scope, documentsContainer.name, {
      equals: partitionOf(incarnation),
      limit: limit + 1,
    });
    const ids = items.map(({ id }) => id).filter((id) => id !== itemIds.fence);
    for (let at = 0; at < ids.length; at += batchItemsMax) {
      // NOT_FOUND: a concurrent step deleted it; the next step finds what remains.
      const operations = ids.slice(at, at + batchItemsMax).map((id) => ({ op: "delete" as const, id }));
      if ((await ifMissing(partition.clean(operations))) === undefined) return { deleted: at, done: false };
    }
    if (ids.length > 0) return { deleted: ids.length, done: false };
    await tolerate(this.#letGo(partition), "INVALID");
    return { deleted: 0, done: true };
  }

  async count(scope: Scope, incarnation: Incarnation): Promise<number> {
    return this.#deps.items.count(scope, documentsContainer.name, {
      equals: partitionOf(incarnation),
      filter: { kind: { ne: "fence" } },
    });
  }

  /**
   * Sets the fence if the archiving process died before it could. The operation is read after the fence: unarchiving deletes the operation
   * first and writes the fence then, so one of the two is noticed.
   */
  async archive(scope: Scope, incarnation: Incarnation): Promise<{ count: number }> {
    const partition = this.#partition(scope, incarnation);
    const fence = await partition.ensure("ARCHIVED");
    if (fence.record.status === "ACTIVE") {
      const key = { partition: [incarnation.repository_id], id: operationItemId(incarnation.incarnation) };
      const operation = (await this.#deps.items.read(scope, collectionsContainer.name, key))?.document;
      if (operation?.["action"] !== "archive-collection")
        throw new PinakesError("CONFLICT", "The collection is active again.");
      const patch = [{ op: "set" as const, path: "/status", value: "ARCHIVED" }];
      await partition.clean([{ op: "patch", id: itemIds.fence, patch, ifMatch: fence.etag }]);
    }
    return { count: await this.count(scope, incarnation) };
  }

  async incarnations(
    scope: Scope,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldIncarnations> {
    const page = await this.#deps.items.query(scope, documentsContainer.name, {
      index: "lives",
      equals: { held: true },
      limit,
      cursor,
    });
    const incarnations = page.items.map(({ document }) => ({
      incarnation: document["incarnation"] as string,
      repository_id: document["repository_id"] as string,
    }));
    return { incarnations, cursor: page.cursor };
  }

  /** Removes it from the list of held incarnations. */
  async #letGo(partition: CollectionPartition): Promise<void> {
    if ((await partition.fence())?.record.held === undefined) return;
    await partition.clean([{ op: "patch", id: itemIds.fence, patch: [{ op: "remove", path: "/held" }] }]);
  }

  #partition(scope: Scope, incarnation: Incarnation): CollectionPartition {
    return new CollectionPartition(this.#deps.items, scope, incarnation);
  }
}

function partitionOf({ repository_id, incarnation }: Incarnation) {
  return { repository_id, incarnation };
}
