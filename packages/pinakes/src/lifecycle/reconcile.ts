/**
 * Finds data that no record names: of incarnations that ended or never existed. It is reported when found, and handled only after it has
 * been unknown for a day, so that neither a stale index nor a collection that is just being created is mistaken for it. Leftovers of a
 * purged incarnation are then removed. Any other data is quarantined: it stays in place, untouched, and is dropped by the quarantine sweep
 * when it expires. A record that names it again ends the quarantine (RFC 0016).
 */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { Catalogue } from "./catalogue.ts";
import { lifecycleLimits } from "./limits.ts";
import type { HeldIncarnations, Participant } from "./participant.ts";
import { participantsContainer } from "./participants.ts";

export interface Orphan {
  readonly store: string;
  readonly incarnation: string;
  readonly rows: number;
  /** When it was first found, in epoch milliseconds. */
  readonly since: number;
  readonly removed: boolean;
  /** This check quarantined it. */
  readonly quarantined: boolean;
}

/** Quarantined data of an incarnation without a record. */
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
  /** Number of incarnations checked. */
  readonly incarnations: number;
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

const incarnationsPerPage = 100;
/** Per round and store. */
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
      seen += page.incarnations;
      ({ cursor } = page);
    } while (cursor !== undefined && seen < livesMax);
    return found;
  }

  /** The caller keeps the cursor and so reaches the end, however many there are. */
  async page(
    scope: Scope,
    store: Participant,
    { cursor, remove }: { readonly cursor: string | undefined; readonly remove: boolean },
  ): Promise<ReconciledPage> {
    const held: HeldIncarnations = await store.incarnations(scope, { limit: incarnationsPerPage, cursor });
    const orphans: Orphan[] = [];
    for (const key of held.incarnations) {
      const orphan = await this.#look(scope, store, key, remove);
      if (orphan !== undefined) orphans.push(orphan);
    }
    return { orphans, incarnations: held.incarnations.length, cursor: held.cursor };
  }

  /** The quarantined data of a tenant, in pages. */
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

  /** Ends the quarantine: the data was never changed, and the grace period starts again. */
  async release(scope: Scope, { store, incarnation }: HeldOrphan): Promise<void> {
    await this.#write({ part: partOf(scope), id: `${store}:${incarnation}` }, { since: this.#parts.clock.now() });
  }

  /** Removes the data permanently, unless a record names the incarnation by now. */
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
    held: HeldIncarnations["incarnations"][number],
    remove: boolean,
  ): Promise<Orphan | undefined> {
    const { incarnation, repository_id } = held;
    const key = { part: partOf(scope), id: `${store.store}:${incarnation}` };
    const known = await this.#read(key);
    if (await this.#parts.catalogue.knows(scope, incarnation)) {
      if (known !== undefined) await this.#write(key, undefined);
      return undefined;
    }
    const found = { incarnation, repository_id, collection_id: "" };
    const rows = await store.count(scope, found);
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
    // Its purge was requested, so nothing is kept.
    await this.#remove(scope, store, found);
    await this.#write(key, undefined);
    return { ...orphan, removed: true };
  }

  async #remove(
    scope: Scope,
    store: Participant,
    { incarnation, repository_id }: HeldIncarnations["incarnations"][number],
  ): Promise<void> {
    const key = { incarnation, repository_id, collection_id: "" };
    for (let done = false; !done;)
      ({ done } = await store.deleteStep(scope, key, { limit: lifecycleLimits.stepRowsMax }));
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
