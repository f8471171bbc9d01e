/** The quads of an incarnation: its space with all graphs, indexes and terms. */
import type { Scope } from "../../../domain/scope.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import type { HeldIncarnations, Incarnation, Participant } from "../../../lifecycle/index.ts";
import type { TripleStore } from "../../../ports/triple-store.ts";
import { isIncarnation } from "./built-in.ts";

export class TriplesStore implements Participant {
  readonly store = "triples";
  readonly class = "triples";
  readonly capabilities = { delete: true, archive: true, list: true };
  readonly #triples: TripleStore;

  constructor(triples: TripleStore) {
    this.#triples = triples;
  }

  async fence(scope: Scope, { incarnation }: Incarnation): Promise<void> {
    await this.#triples.fence(scope, incarnation);
  }

  async unfence(scope: Scope, { incarnation }: Incarnation): Promise<void> {
    // NOT_FOUND: the delete did not fence the triples, as of an import or of an earlier version.
    await ifMissing(this.#triples.unfence(scope, incarnation));
  }

  async deleteStep(
    scope: Scope,
    { incarnation }: Incarnation,
    { limit }: { readonly limit: number },
  ): Promise<{ deleted: number; done: boolean }> {
    return this.#triples.purge(scope, incarnation, { limit });
  }

  async count(scope: Scope, { incarnation }: Incarnation): Promise<number> {
    const { quads, supports, terms } = await this.#triples.usage(scope, incarnation);
    return quads + supports + terms;
  }

  /** Every write checks the collection's record, which is ARCHIVED. */
  async archive(scope: Scope, { incarnation }: Incarnation): Promise<{ count: number }> {
    return { count: (await this.#triples.usage(scope, incarnation)).quads };
  }

  async incarnations(
    scope: Scope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldIncarnations> {
    const { spaces, cursor } = await this.#triples.spaces(scope, options);
    const held = spaces.filter(({ space, status }) => status !== "purged" && isIncarnation(space));
    return { incarnations: held.map(({ space }) => ({ incarnation: space, repository_id: "" })), cursor };
  }
}
