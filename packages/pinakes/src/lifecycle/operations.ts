/** Operations as stored beside the record of their collection, changed conditionally on their etag. */
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import { isConflict } from "../runtime/expected-errors.ts";
import type { ItemStore, Operation as ItemOperation } from "../ports/item-store.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Operation } from "./operation.ts";
import type { Incarnation } from "./participant.ts";

export interface StoredOperation {
  readonly operation: Operation;
  readonly etag: string;
}

type IncarnationKey = Pick<Incarnation, "repository_id" | "incarnation">;

export function operationItemId(incarnation: string): string {
  return `operation:${incarnation}`;
}

export class Operations {
  readonly #items: ItemStore;
  readonly #catalogue: Catalogue;

  constructor(items: ItemStore, catalogue: Catalogue) {
    this.#items = items;
    this.#catalogue = catalogue;
  }

  async read(scope: Scope, { repository_id, incarnation }: IncarnationKey): Promise<StoredOperation | undefined> {
    const item = await this.#items.read(scope, this.#catalogue.container, {
      partition: [repository_id],
      id: operationItemId(incarnation),
    });
    if (item === undefined) return undefined;
    const { id: _, ...operation } = item.document;
    return { operation: operation as unknown as Operation, etag: item.etag };
  }

  /** With the caller's changes in the same batch. Replaces an earlier operation on the incarnation, by its etag. */
  async begin(scope: Scope, operation: Operation, beside: readonly ItemOperation[], earlier?: string): Promise<void> {
    const document = asDocument(operation);
    const write: ItemOperation =
      earlier === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: earlier };
    await this.#items.batch(scope, this.#catalogue.container, [operation.repository_id], [...beside, write]);
  }

  /** Read, change, write; repeated after a conflict. `plan` returns undefined if there is nothing to change. */
  async change(
    scope: Scope,
    incarnation: IncarnationKey,
    plan: (operation: Operation) => Operation | undefined,
  ): Promise<Operation | undefined> {
    for (;;) {
      const stored = await this.read(scope, incarnation);
      const next = stored === undefined ? undefined : plan(stored.operation);
      if (stored === undefined || next === undefined) return undefined;
      const beside = next.status === stored.operation.status ? [] : await this.#catalogue.beside(scope, next);
      const write: ItemOperation = { op: "replace", document: asDocument(next), ifMatch: stored.etag };
      try {
        await this.#items.batch(scope, this.#catalogue.container, [incarnation.repository_id], [write, ...beside]);
        return next;
      } catch (error) {
        // The operation or the record beside it has changed.
        if (!isConflict(error)) throw error;
      }
    }
  }
}

function asDocument(operation: Operation): JsonObject {
  return { id: operationItemId(operation.incarnation), ...(operation as unknown as JsonObject) };
}
