/**
 * The records of a life: documents, sources, counters, removals. The fence stays when all of them are gone: it is what refuses a write
 * that comes late, for ever.
 */
import { PinakesError } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import { ifMissing, tolerate } from "../../../runtime/expected-errors.ts";
import { operationItemId, type HeldLives, type Life, type Participant } from "../../../lifecycle/index.ts";
import { Shelf } from "../../records/collection-partition.ts";
import { collectionsContainer, documentsContainer, itemIds } from "../../records/records.ts";
import { type StoreParts } from "./built-in.ts";

/** Of one batch; every engine takes as many. */
const batchItemsMax = 25;

export class DocumentsStore implements Participant {
  readonly store = "documents";
  readonly class = "object";
  readonly capabilities = { delete: true, archive: true, list: true };
  readonly #parts: Pick<StoreParts, "items">;

  constructor(parts: Pick<StoreParts, "items">) {
    this.#parts = parts;
  }

  async fence(scope: Scope, life: Life): Promise<void> {
    await this.#shelf(scope, life).setStatus("DELETED");
  }

  async unfence(scope: Scope, life: Life, { archived }: { readonly archived: boolean }): Promise<void> {
    await this.#shelf(scope, life).setStatus(archived ? "ARCHIVED" : "ACTIVE");
  }

  async deleteStep(
    scope: Scope,
    life: Life,
    { limit }: { readonly limit: number },
  ): Promise<{ deleted: number; done: boolean }> {
    const shelf = this.#shelf(scope, life);
    await shelf.setStatus("PURGED");
    const { items } = await this.#parts.items.query(scope, documentsContainer.name, {
      equals: partition(life),
      limit: limit + 1,
    });
    const ids = items.map(({ id }) => id).filter((id) => id !== itemIds.fence);
    for (let at = 0; at < ids.length; at += batchItemsMax) {
      // NOT_FOUND: somebody else is at it too; what is left is found by the next step.
      const operations = ids.slice(at, at + batchItemsMax).map((id) => ({ op: "delete" as const, id }));
      if ((await ifMissing(shelf.clean(operations))) === undefined) return { deleted: at, done: false };
    }
    if (ids.length > 0) return { deleted: ids.length, done: false };
    await tolerate(this.#letGo(shelf), "INVALID");
    return { deleted: 0, done: true };
  }

  async count(scope: Scope, life: Life): Promise<number> {
    return this.#parts.items.count(scope, documentsContainer.name, {
      equals: partition(life),
      filter: { kind: { ne: "fence" } },
    });
  }

  /**
   * Sets the fence where the process that archived died before it could. The operation is looked at after the fence was read: who makes the
   * collection active again ends the operation first and writes the fence then, so one of the two is noticed.
   */
  async archive(scope: Scope, life: Life): Promise<{ count: number }> {
    const shelf = this.#shelf(scope, life);
    const fence = await shelf.ensure("ARCHIVED");
    if (fence.record.status === "ACTIVE") {
      const key = { partition: [life.repository_id], id: operationItemId(life.incarnation) };
      const operation = (await this.#parts.items.read(scope, collectionsContainer.name, key))?.document;
      if (operation?.["action"] !== "archive-collection")
        throw new PinakesError("CONFLICT", "The collection is active again.");
      const patch = [{ op: "set" as const, path: "/status", value: "ARCHIVED" }];
      await shelf.clean([{ op: "patch", id: itemIds.fence, patch, ifMatch: fence.etag }]);
    }
    return { count: await this.count(scope, life) };
  }

  async incarnations(
    scope: Scope,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldLives> {
    const page = await this.#parts.items.query(scope, documentsContainer.name, {
      index: "lives",
      equals: { held: true },
      limit,
      cursor,
    });
    const lives = page.items.map(({ document }) => ({
      incarnation: document["incarnation"] as string,
      repository_id: document["repository_id"] as string,
    }));
    return { lives, cursor: page.cursor };
  }

  /** Not listed any more. */
  async #letGo(shelf: Shelf): Promise<void> {
    if ((await shelf.fence())?.record.held === undefined) return;
    await shelf.clean([{ op: "patch", id: itemIds.fence, patch: [{ op: "remove", path: "/held" }] }]);
  }

  #shelf(scope: Scope, life: Life): Shelf {
    return new Shelf(this.#parts.items, scope, life);
  }
}

function partition({ repository_id, incarnation }: Life) {
  return { repository_id, incarnation };
}
