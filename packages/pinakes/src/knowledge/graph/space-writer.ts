/**
 * Writes to the quads of one life of a collection. The space is opened by the first write. Each write looks at the fence and the record of
 * the life first, since a load may go on for hours, and a migration may have begun; what comes after the end all the same is refused by the
 * store itself.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { QuadChange, QuadChanges } from "../../ports/triple-store.ts";
import { noteLateWrite } from "../records/late-writes.ts";
import { Shelf } from "../records/collection-partition.ts";
import { lifeOf } from "../records/life-of.ts";
import { archived } from "../access/open-collection.ts";
import { requireNotHeld } from "../records/hold.ts";
import { Library } from "../records/catalog-records.ts";
import type { CollectionRecord } from "../records/records.ts";
import { requireStillTaking } from "../records/taking.ts";
import type { KnowledgeParts } from "../dependencies.ts";

export class SpaceWriter {
  readonly #parts: Pick<KnowledgeParts, "items" | "triples">;
  readonly #scope: Scope;
  readonly #collection: CollectionRecord;

  constructor(parts: Pick<KnowledgeParts, "items" | "triples">, scope: Scope, collection: CollectionRecord) {
    this.#parts = parts;
    this.#scope = scope;
    this.#collection = collection;
  }

  async write(change: QuadChange): Promise<QuadChanges> {
    await this.#requireActive();
    const changes = await this.#writeOpened(change).catch((error: unknown) => {
      // The space is fenced or was purged.
      throw hasCode(error, "CONFLICT") ? this.#tooLate(error) : error;
    });
    await requireStillTaking(this.#parts.items, this.#scope, this.#collection);
    return changes;
  }

  async #writeOpened(change: QuadChange): Promise<QuadChanges> {
    const { triples } = this.#parts;
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
    const { items } = this.#parts;
    const [fence, now] = await Promise.all([
      new Shelf(items, this.#scope, this.#collection).fence(),
      new Library(items).life(this.#scope, lifeOf(this.#collection)),
    ]);
    const status = fence?.record.status ?? "ACTIVE";
    if (status === "ARCHIVED") throw archived(this.#collection);
    if (status !== "ACTIVE") throw this.#tooLate();
    if (now !== undefined) requireNotHeld(now.record);
  }

  #tooLate(cause?: unknown): PinakesError {
    noteLateWrite(this.#parts.items);
    return new PinakesError(
      "CONFLICT",
      `Collection "${this.#collection.collection_id}" takes no triples: it was deleted meanwhile.`,
      { cause },
    );
  }
}
