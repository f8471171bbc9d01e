/**
 * Writes to the quads of one incarnation of a collection. The first write opens the space. Each write checks the fence and the record
 * first, since a load may run for hours and a migration may have started; the store itself refuses writes after the end.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { QuadChange, QuadChanges } from "../../ports/triple-store.ts";
import { noteLateWrite } from "../records/late-writes.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import { archived } from "../access/open-collection.ts";
import { requireNotHeld } from "../records/hold.ts";
import { CatalogRecords } from "../records/catalog-records.ts";
import type { CollectionRecord } from "../records/records.ts";
import { requireStillTaking } from "../records/taking.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

export class SpaceWriter {
  readonly #deps: Pick<KnowledgeDependencies, "items" | "triples">;
  readonly #scope: Scope;
  readonly #collection: CollectionRecord;

  constructor(deps: Pick<KnowledgeDependencies, "items" | "triples">, scope: Scope, collection: CollectionRecord) {
    this.#deps = deps;
    this.#scope = scope;
    this.#collection = collection;
  }

  async write(change: QuadChange): Promise<QuadChanges> {
    await this.#requireActive();
    const changes = await this.#writeOpened(change).catch((error: unknown) => {
      // The space is fenced or was purged.
      throw hasCode(error, "CONFLICT") ? this.#tooLate(error) : error;
    });
    await requireStillTaking(this.#deps.items, this.#scope, this.#collection);
    return changes;
  }

  async #writeOpened(change: QuadChange): Promise<QuadChanges> {
    const { triples } = this.#deps;
    const { incarnation } = this.#collection;
    try {
      return await triples.write(this.#scope, incarnation, change);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      await triples.open(this.#scope, incarnation);
      return triples.write(this.#scope, incarnation, change);
    }
  }

  async #requireActive(): Promise<void> {
    const { items } = this.#deps;
    const [fence, now] = await Promise.all([
      new CollectionPartition(items, this.#scope, this.#collection).fence(),
      new CatalogRecords(items).incarnation(this.#scope, incarnationOf(this.#collection)),
    ]);
    const status = fence?.record.status ?? "ACTIVE";
    if (status === "ARCHIVED") throw archived(this.#collection);
    if (status !== "ACTIVE") throw this.#tooLate();
    if (now !== undefined) requireNotHeld(now.record);
  }

  #tooLate(cause?: unknown): PinakesError {
    noteLateWrite(this.#deps.items);
    return new PinakesError(
      "CONFLICT",
      `Collection "${this.#collection.collection_id}" does not accept triples: it was deleted concurrently.`,
      { cause },
    );
  }
}
