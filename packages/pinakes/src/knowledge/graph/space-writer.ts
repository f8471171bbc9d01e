/**
 * Writes to the quads of one incarnation of a collection. The first write opens the space. Each write checks the fence and the record
 * first, since a load may run for hours and a migration may have started; the store itself refuses writes after the end.
 *
 * For a writer who may not see all documents, what only hidden documents state is not there: it is not removed, and inserting it counts.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { QuadChange, QuadChanges } from "../../ports/triple-store.ts";
import { noteLateWrite } from "../records/late-writes.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { HiddenDocuments } from "../access/hidden-documents.ts";
import { archived } from "../access/open-collection.ts";
import { requireNotHeld } from "../records/hold.ts";
import { CatalogRecords } from "../records/catalog-records.ts";
import type { CollectionRecord } from "../records/records.ts";
import { requireStillTaking } from "../records/taking.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { visibleQuads } from "./visible-triples.ts";

export class SpaceWriter {
  readonly #deps: Pick<KnowledgeDependencies, "items" | "triples">;
  readonly #scope: Scope;
  readonly #collection: CollectionRecord;
  readonly #hidden: HiddenDocuments | undefined;

  constructor(
    deps: Pick<KnowledgeDependencies, "items" | "triples">,
    scope: Scope,
    collection: CollectionRecord,
    hidden?: HiddenDocuments,
  ) {
    this.#deps = deps;
    this.#scope = scope;
    this.#collection = collection;
    this.#hidden = hidden;
  }

  async write({ insert = [], remove = [], ...options }: QuadChange): Promise<QuadChanges> {
    await this.#requireActive();
    const [unseen, seen] = await Promise.all([this.#unseen(insert), this.#visible(remove)]);
    const { inserted, removed } = await this.#store({ insert, remove: seen, ...options });
    return { inserted: inserted + unseen, removed };
  }

  async #store(change: QuadChange): Promise<QuadChanges> {
    const changes = await this.#writeOpened(change).catch((error: unknown) => {
      // The space is fenced or was purged.
      throw hasCode(error, "CONFLICT") ? this.#tooLate(error) : error;
    });
    await requireStillTaking(this.#deps.items, this.#scope, this.#collection);
    return changes;
  }

  async #visible(quads: readonly Quad[]): Promise<readonly Quad[]> {
    if (this.#hidden === undefined) return quads;
    return visibleQuads(this.#deps.triples, this.#scope, this.#collection.incarnation, this.#hidden, quads);
  }

  /** How many of the quads are there, but only for those who see a hidden document. */
  async #unseen(quads: readonly Quad[]): Promise<number> {
    if (this.#hidden === undefined) return 0;
    const distinct = [...new Map(quads.map((quad) => [JSON.stringify(quad), quad])).values()];
    return distinct.length - (await this.#visible(distinct)).length;
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
