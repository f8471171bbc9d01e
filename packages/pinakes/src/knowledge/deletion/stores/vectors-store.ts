/**
 * The chunks of an incarnation, of all its generations and models, with their indexes; and the rows that callers embedded. Names that never
 * held a row are retired too, so that a late ingestion cannot create them.
 */
import type { Scope } from "../../../domain/scope.ts";
import { ifMissing, tolerate } from "../../../runtime/expected-errors.ts";
import type { HeldIncarnations, Incarnation, Participant } from "../../../lifecycle/index.ts";
import { vectorLimits } from "../../../vectors/index.ts";
import { CollectionPartition } from "../../records/collection-partition.ts";
import { ownVectorsName } from "../../records/raw-vectors-name.ts";
import { isIncarnation, type Stores } from "./built-in.ts";

const namePattern = /^(.+)\.(?:\d+|own)$/;

export class VectorsStore implements Participant {
  readonly store = "vectors";
  readonly class = "vector";
  readonly capabilities = { delete: true, archive: true, list: true };
  readonly #deps: Pick<Stores, "items" | "vectors">;

  constructor(deps: Pick<Stores, "items" | "vectors">) {
    this.#deps = deps;
  }

  async fence(scope: Scope, incarnation: Incarnation, { purgeAt }: { readonly purgeAt: number }): Promise<void> {
    for (const name of await this.#names(scope, incarnation))
      await ifMissing(this.#deps.vectors.delete(scope, name, { purgeAt }));
  }

  async unfence(scope: Scope, incarnation: Incarnation): Promise<void> {
    // CONFLICT: already restored.
    for (const name of await this.#names(scope, incarnation))
      await tolerate(this.#deps.vectors.undelete(scope, name), "NOT_FOUND", "CONFLICT");
  }

  /** One vector collection per step. */
  async deleteStep(scope: Scope, incarnation: Incarnation): Promise<{ deleted: number; done: boolean }> {
    const { vectors } = this.#deps;
    for (const name of await this.#names(scope, incarnation)) {
      const { status, left } = await vectors.remains(scope, name);
      if (status === "deleted" && left === 0) continue;
      // CONFLICT: a concurrent writer created it; then there is something to purge.
      if (status === "absent") await tolerate(vectors.create(scope, name, { dims: vectorLimits.dimsMin }), "CONFLICT");
      const { objects, items } = await vectors.purge(scope, name);
      return { deleted: status === "absent" ? 0 : objects + items, done: false };
    }
    return { deleted: 0, done: true };
  }

  async count(scope: Scope, incarnation: Incarnation): Promise<number> {
    let count = 0;
    for (const name of await this.#names(scope, incarnation))
      count += (await this.#deps.vectors.remains(scope, name)).left;
    return count;
  }

  /** Every write checks the collection's record, which is ARCHIVED. */
  async archive(scope: Scope, incarnation: Incarnation): Promise<{ count: number }> {
    let count = 0;
    for (const name of await this.#names(scope, incarnation))
      count += (await ifMissing(this.#deps.vectors.count(scope, name))) ?? 0;
    return { count };
  }

  async incarnations(
    scope: Scope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldIncarnations> {
    const { collections, cursor } = await this.#deps.vectors.list(scope, options);
    const found = collections.map(({ collection }) => namePattern.exec(collection)?.[1] ?? "").filter(isIncarnation);
    return { incarnations: [...new Set(found)].map((incarnation) => ({ incarnation, repository_id: "" })), cursor };
  }

  /** One generation more than the record names: a re-index may have started it. */
  async #names(scope: Scope, incarnation: Incarnation): Promise<readonly string[]> {
    const partition = new CollectionPartition(this.#deps.items, scope, incarnation);
    const { generation } = (await partition.fence())?.record ?? { generation: 1 };
    return [
      ...Array.from({ length: generation + 1 }, (_, i) => partition.vectors(i + 1)),
      ownVectorsName(incarnation.incarnation),
    ];
  }
}
