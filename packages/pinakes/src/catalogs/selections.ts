/**
 * Which catalog a session has selected. Kept as an item, so that all server processes agree and a restart loses nothing; it expires
 * when the session has not used it for a day.
 *
 * Invariants
 * - a selection is found by tenant, user and session together: the id of another user's session finds nothing;
 * - the id of a session is stored only as a hash, since it authorizes selections for the session.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { defineContainer, type Container } from "../containers/index.ts";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { invalid } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { systemClock, type Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import { catalogLimits } from "./limits.ts";

export interface CatalogSelection {
  readonly catalog_id: string;
  /** Epoch milliseconds. */
  readonly selected_at: number;
}

/** Of one session of one user. */
export interface SelectionSlot {
  get(): Promise<CatalogSelection | null>;
  set(selection: CatalogSelection): Promise<void>;
  clear(): Promise<void>;
}

export interface CatalogSelections {
  slot(caller: Caller, sessionId: string): SelectionSlot;
}

const SelectionRecord = z.strictObject({
  id: z.string(),
  user_id: z.string(),
  catalog_id: z.string(),
  selected_at: z.number(),
  /** Epoch milliseconds: when it was last used, to within an hour. */
  used_at: z.number(),
});

const container = defineContainer({
  name: "catalog-selections",
  partitionKey: ["id"],
  schema: SelectionRecord,
  ttl: catalogLimits.selectionIdleSeconds,
});
type Records = Container<z.output<typeof SelectionRecord>, z.input<typeof SelectionRecord>, "id", {}>;

/** A selection that is in use is written again at most this often. */
const keepAliveMs = 3_600_000;

export async function openSelections(
  items: ItemStore,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<CatalogSelections> {
  const records: Records = await container.open(items);
  return {
    slot(caller, sessionId) {
      const scope = requireCaller(caller);
      const { sessionIdCharsMax } = catalogLimits;
      if (typeof sessionId !== "string" || sessionId === "" || sessionId.length > sessionIdCharsMax)
        throw invalid(`session: a session id has 1–${sessionIdCharsMax} characters.`);
      return new ItemSlot(records, clock, scope, caller.userId, sessionId);
    },
  };
}

class ItemSlot implements SelectionSlot {
  readonly #records: Records;
  readonly #clock: Clock;
  readonly #scope: Scope;
  readonly #userId: string;
  readonly #id: string;

  constructor(records: Records, clock: Clock, scope: Scope, userId: string, sessionId: string) {
    this.#records = records;
    this.#clock = clock;
    this.#scope = scope;
    this.#userId = userId;
    this.#id = hash("sha256", JSON.stringify([userId, sessionId]), "hex");
  }

  async get(): Promise<CatalogSelection | null> {
    const found = await this.#records.read(this.#scope, { id: this.#id });
    if (found === undefined) return null;
    const { catalog_id, selected_at, used_at } = found;
    const selection = { catalog_id, selected_at };
    // A concurrent selection wins.
    if (this.#clock.now() - used_at > keepAliveMs)
      await tolerate(
        this.#records.replace(this.#scope, this.#record(selection), { ifMatch: found._etag }),
        "PRECONDITION_FAILED",
        "NOT_FOUND",
      );
    return selection;
  }

  async set(selection: CatalogSelection): Promise<void> {
    await this.#records.upsert(this.#scope, this.#record(selection));
  }

  async clear(): Promise<void> {
    await tolerate(this.#records.delete(this.#scope, { id: this.#id }), "NOT_FOUND");
  }

  #record({ catalog_id, selected_at }: CatalogSelection): z.input<typeof SelectionRecord> {
    return { id: this.#id, user_id: this.#userId, catalog_id, selected_at, used_at: this.#clock.now() };
  }
}
