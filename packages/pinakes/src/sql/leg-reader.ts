/** Reads one leg of a plan item by item, and knows at any time where to continue: after what was consumed, not after what was read. */
import type { Item, ItemStore, Page, Query as StoreQuery, SessionTokens } from "../ports/item-store.ts";
import type { Scope } from "../domain/scope.ts";
import type { Leg } from "./plan/access.ts";
import { sqlLimits } from "./limits.ts";
import type { Plan } from "./plan/plan.ts";
import type { QueryOptions } from "./types.ts";

/** Where a leg continues: at its start, after a cursor of the store, or not at all. */
export type LegPosition = { readonly at?: string } | "done";

export interface Reading {
  readonly items: ItemStore;
  readonly scope: Scope;
  readonly container: string;
  readonly plan: Plan;
  readonly session: SessionTokens | undefined;
  readonly memory: QueryOptions["memory"];
  /** Rows read so far, by all legs. */
  examined: number;
}

export class LegReader {
  readonly #reading: Reading;
  readonly #query: StoreQuery;
  #start: LegPosition;
  #page: Page | undefined;
  #place = 0;

  constructor(reading: Reading, leg: Leg, start: LegPosition) {
    const { source, reverse } = reading.plan.access;
    this.#reading = reading;
    this.#start = start;
    this.#query = {
      index: source.index,
      equals: leg.equals,
      range: leg.range,
      ...(reverse ? { order: "desc" as const } : {}),
      prefilter: reading.plan.prefilter,
      resumable: true,
      session: reading.session,
    };
  }

  /** The next item, if it has been read. */
  get head(): Item | undefined {
    return this.#page?.items[this.#place];
  }

  get done(): boolean {
    return this.position === "done";
  }

  /** The position after the consumed items. */
  get position(): LegPosition {
    if (this.#page === undefined) return this.#start;
    if (this.#place < this.#page.items.length) return this.before;
    return this.#page.cursor === undefined ? "done" : { at: this.#page.cursor };
  }

  /** The position at which the head is returned again. */
  get before(): LegPosition {
    if (this.#page === undefined || this.#place === 0) return this.#start;
    return { at: this.#page.after?.(this.#place - 1) as string };
  }

  take(): Item | undefined {
    const item = this.head;
    if (item !== undefined) this.#place += 1;
    return item;
  }

  /** Reads the next page, which may be empty. Called only if there is no head. */
  async load(wanted: number): Promise<void> {
    const position = this.position;
    if (position === "done") return;
    const limit = Math.max(1, Math.min(sqlLimits.pageItemsMax, wanted));
    this.#start = position;
    const { items, scope, container } = this.#reading;
    this.#page = await items.query(scope, container, { ...this.#query, limit, cursor: position.at });
    this.#place = 0;
    this.#reading.examined += this.#page.examined ?? this.#page.items.length;
  }
}
