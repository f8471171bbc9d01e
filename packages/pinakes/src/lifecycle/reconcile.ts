/**
 * Looks for data that no record names: what a store still holds of lives that ended, or never were. It is reported when it is found, and
 * removed only after a day in which it was unknown all the time, so that neither a late index nor a collection just being made is taken
 * for one.
 */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { Catalogue } from "./catalogue.ts";
import { lifecycleLimits } from "./limits.ts";
import type { HeldLives, Participant } from "./participant.ts";
import { participantsContainer } from "./participants.ts";

export interface Orphan {
  readonly store: string;
  readonly incarnation: string;
  readonly rows: number;
  /** Epoch milliseconds of the first round that found it. */
  readonly since: number;
  readonly removed: boolean;
}

export interface ReconciledPage {
  readonly orphans: readonly Orphan[];
  /** That were looked at. */
  readonly lives: number;
  /** Absent at the end. */
  readonly cursor: string | undefined;
}

export interface ReconcilerParts {
  readonly items: ItemStore;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly stores: readonly Participant[];
}

const pageLives = 100;
/** In one round and store. */
const livesMax = 10_000;

export class Reconciler {
  readonly #parts: ReconcilerParts;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  async round(scope: Scope, { remove = true }: { readonly remove?: boolean } = {}): Promise<readonly Orphan[]> {
    const found: Orphan[] = [];
    for (const store of this.#parts.stores) if (store.capabilities.list) found.push(...(await this.#store(scope, store, remove)));
    return found;
  }

  async #store(scope: Scope, store: Participant, remove: boolean): Promise<readonly Orphan[]> {
    const found: Orphan[] = [];
    let seen = 0;
    let cursor: string | undefined;
    do {
      const page: ReconciledPage = await this.page(scope, store, { cursor, remove });
      found.push(...page.orphans);
      seen += page.lives;
      ({ cursor } = page);
    } while (cursor !== undefined && seen < livesMax);
    return found;
  }

  /** So that whoever keeps the cursor gets to the end, however many there are. */
  async page(scope: Scope, store: Participant, { cursor, remove }: { readonly cursor: string | undefined; readonly remove: boolean }): Promise<ReconciledPage> {
    const held: HeldLives = await store.incarnations(scope, { limit: pageLives, cursor });
    const orphans: Orphan[] = [];
    for (const life of held.lives) {
      const orphan = await this.#look(scope, store, life, remove);
      if (orphan !== undefined) orphans.push(orphan);
    }
    return { orphans, lives: held.lives.length, cursor: held.cursor };
  }

  async #look(scope: Scope, store: Participant, held: HeldLives["lives"][number], remove: boolean): Promise<Orphan | undefined> {
    const { incarnation, repository_id } = held;
    const note = { part: `orphans:${scope.tenant}`, id: `${store.store}:${incarnation}` };
    const known = await this.#read(note);
    if (await this.#parts.catalogue.knows(scope, incarnation)) {
      if (known !== undefined) await this.#write(note, undefined);
      return undefined;
    }
    const life = { incarnation, repository_id, collection_id: "" };
    const rows = await store.count(scope, life);
    if (rows === 0) return undefined;
    const now = this.#parts.clock.now();
    const since = known ?? now;
    if (known === undefined) await this.#write(note, now);
    if (!remove || now - since < lifecycleLimits.orphanGraceMs) return { store: store.store, incarnation, rows, since, removed: false };
    for (let done = false; !done;) ({ done } = await store.deleteStep(scope, life, { limit: lifecycleLimits.stepRowsMax }));
    await this.#write(note, undefined);
    return { store: store.store, incarnation, rows, since, removed: true };
  }

  async #read({ part, id }: { part: string; id: string }): Promise<number | undefined> {
    const item = await this.#parts.items.read(this.#parts.scope, participantsContainer.name, { partition: [part], id });
    return item?.document["since"] as number | undefined;
  }

  async #write({ part, id }: { part: string; id: string }, since: number | undefined): Promise<void> {
    const write = this.#parts.items.write(
      this.#parts.scope,
      participantsContainer.name,
      [part],
      since === undefined ? { op: "delete", id } : { op: "upsert", document: { id, part, since } },
    );
    await write.catch((error: unknown) => {
      if (!PinakesError.isInstance(error) || error.code !== "NOT_FOUND") throw error;
    });
  }
}
