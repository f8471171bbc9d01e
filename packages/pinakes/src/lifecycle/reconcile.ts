/**
 * Looks for data that no record names: what a store still holds of lives that ended, or never were. It is reported when it is found, and
 * dealt with only after a day in which it was unknown all the time, so that neither a late index nor a collection just being made is taken
 * for one. Leftovers of a life that was purged are removed then. Any other data is put in quarantine: it stays where it is, untouched, and
 * is dropped by the sweep of the quarantine when its time has passed. A record that names it again ends the quarantine (RFC 0016).
 */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { tolerate } from "../runtime/expected-errors.ts";
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
  /** This look put it in quarantine. */
  readonly quarantined: boolean;
}

/** Data of a life that no record names, in quarantine where it is. */
export interface HeldOrphan {
  readonly store: string;
  readonly incarnation: string;
  readonly repository_id: string;
  readonly rows: number;
  /** Epoch milliseconds. */
  readonly quarantinedAt: number;
}

interface Note {
  readonly since: number;
  readonly quarantined_at?: number;
  readonly rows?: number;
  readonly repository_id?: string;
}

export interface ReconciledPage {
  readonly orphans: readonly Orphan[];
  /** That were looked at. */
  readonly lives: number;
  /** Absent at the end. */
  readonly cursor: string | undefined;
}

export interface ReconcilerOptions {
  readonly items: ItemStore;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly stores: readonly Participant[];
}

export interface HeldOrphanPage {
  readonly orphans: readonly HeldOrphan[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
}

const pageLives = 100;
/** In one round and store. */
const livesMax = 10_000;

export class Reconciler {
  readonly #parts: ReconcilerOptions;

  constructor(parts: ReconcilerOptions) {
    this.#parts = parts;
  }

  async round(scope: Scope, { remove = true }: { readonly remove?: boolean } = {}): Promise<readonly Orphan[]> {
    const found: Orphan[] = [];
    for (const store of this.#parts.stores)
      if (store.capabilities.list) found.push(...(await this.#store(scope, store, remove)));
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
  async page(
    scope: Scope,
    store: Participant,
    { cursor, remove }: { readonly cursor: string | undefined; readonly remove: boolean },
  ): Promise<ReconciledPage> {
    const held: HeldLives = await store.incarnations(scope, { limit: pageLives, cursor });
    const orphans: Orphan[] = [];
    for (const life of held.lives) {
      const orphan = await this.#look(scope, store, life, remove);
      if (orphan !== undefined) orphans.push(orphan);
    }
    return { orphans, lives: held.lives.length, cursor: held.cursor };
  }

  /** What is in quarantine of a tenant, in pages. */
  async held(
    scope: Scope,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldOrphanPage> {
    const page = await this.#parts.items.query(this.#parts.scope, participantsContainer.name, {
      equals: { part: partOf(scope) },
      filter: { quarantined_at: { gte: 0 } },
      limit,
      cursor,
    });
    const orphans = page.items.map(({ id, document }) => heldOf(id, document as unknown as Note));
    return { orphans, cursor: page.cursor };
  }

  async heldOne(scope: Scope, store: string, incarnation: string): Promise<HeldOrphan | undefined> {
    const id = `${store}:${incarnation}`;
    const note = await this.#read({ part: partOf(scope), id });
    return note?.quarantined_at === undefined ? undefined : heldOf(id, note);
  }

  /** Out of the quarantine: the data is as it was all the time, and the day of grace begins anew. */
  async release(scope: Scope, { store, incarnation }: HeldOrphan): Promise<void> {
    await this.#write({ part: partOf(scope), id: `${store}:${incarnation}` }, { since: this.#parts.clock.now() });
  }

  /** Removes the data for good; nothing of a life that a record names by now. */
  async drop(scope: Scope, held: HeldOrphan): Promise<void> {
    const store = this.#parts.stores.find((one) => one.store === held.store);
    if (store === undefined)
      throw new PinakesError("UNAVAILABLE", `The store "${held.store}" is not part of this process.`, {
        retryable: false,
      });
    if (!(await this.#parts.catalogue.knows(scope, held.incarnation))) await this.#remove(scope, store, held);
    await this.#write({ part: partOf(scope), id: `${held.store}:${held.incarnation}` }, undefined);
  }

  async #look(
    scope: Scope,
    store: Participant,
    held: HeldLives["lives"][number],
    remove: boolean,
  ): Promise<Orphan | undefined> {
    const { incarnation, repository_id } = held;
    const key = { part: partOf(scope), id: `${store.store}:${incarnation}` };
    const known = await this.#read(key);
    if (await this.#parts.catalogue.knows(scope, incarnation)) {
      if (known !== undefined) await this.#write(key, undefined);
      return undefined;
    }
    const life = { incarnation, repository_id, collection_id: "" };
    const rows = await store.count(scope, life);
    if (rows === 0) return undefined;
    const now = this.#parts.clock.now();
    const since = known?.since ?? now;
    const orphan = { store: store.store, incarnation, rows, since, removed: false, quarantined: false };
    if (known === undefined) await this.#write(key, { since });
    if (known?.quarantined_at !== undefined) return undefined;
    if (!remove || now - since < lifecycleLimits.orphanGraceMs) return orphan;
    if (!(await this.#parts.catalogue.ended(scope, incarnation))) {
      await this.#write(key, { since, quarantined_at: now, rows, repository_id });
      return { ...orphan, quarantined: true };
    }
    // Somebody asked for its removal, so nothing of it is kept.
    await this.#remove(scope, store, life);
    await this.#write(key, undefined);
    return { ...orphan, removed: true };
  }

  async #remove(
    scope: Scope,
    store: Participant,
    { incarnation, repository_id }: HeldLives["lives"][number],
  ): Promise<void> {
    const life = { incarnation, repository_id, collection_id: "" };
    for (let done = false; !done;)
      ({ done } = await store.deleteStep(scope, life, { limit: lifecycleLimits.stepRowsMax }));
  }

  async #read({ part, id }: { part: string; id: string }): Promise<Note | undefined> {
    const item = await this.#parts.items.read(this.#parts.scope, participantsContainer.name, { partition: [part], id });
    return item?.document as Note | undefined;
  }

  async #write({ part, id }: { part: string; id: string }, note: Note | undefined): Promise<void> {
    const write = this.#parts.items.write(
      this.#parts.scope,
      participantsContainer.name,
      [part],
      note === undefined ? { op: "delete", id } : { op: "upsert", document: { id, part, ...note } },
    );
    await tolerate(write, "NOT_FOUND");
  }
}

function partOf({ tenant }: Scope): string {
  return `orphans:${tenant}`;
}

function heldOf(id: string, { rows = 0, repository_id = "", quarantined_at = 0 }: Note): HeldOrphan {
  const [store, incarnation] = id.split(":") as [string, string];
  return { store, incarnation, repository_id, rows, quarantinedAt: quarantined_at };
}
