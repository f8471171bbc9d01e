/**
 * Holds of collections by migrations: writes to a collection's record, each conditional on what was read. A held collection accepts writes
 * from its migration only.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import {
  collectionDocument,
  isLive,
  type CatalogRecords,
  type Stored,
} from "../../knowledge/records/catalog-records.ts";
import { freedBy, heldBy } from "../../knowledge/records/hold.ts";
import { named } from "../../knowledge/records/new-collection.ts";
import type { CollectionRecord } from "../../knowledge/records/records.ts";
import { laterThan } from "../../knowledge/records/times.ts";
import type { KnowledgeDependencies } from "../../knowledge/dependencies.ts";

interface HoldDependencies {
  readonly catalog: CatalogRecords;
  readonly deps: KnowledgeDependencies;
}

/** Throws if another process has taken over the work. */
export type EnsureOwned = () => Promise<void>;

export interface MoveTarget {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export class CollectionHolds {
  readonly #services: HoldDependencies;

  constructor(services: HoldDependencies) {
    this.#services = services;
  }

  /**
   * Writes a live record even if it is not held: an overtaken copy may be about to hold it conditionally. False: it has changed since it
   * was read.
   */
  async free(scope: Scope, { record, etag }: Stored<CollectionRecord>, migration_id: string): Promise<boolean> {
    const freed = freedBy(record, migration_id) ?? (isLive(record) ? record : undefined);
    return freed === undefined || (await this.#replace(scope, freed, record, etag)) !== undefined;
  }

  /** False if the name is taken. */
  async open(
    scope: Scope,
    to: MoveTarget,
    migration_id: string,
    fields: Pick<CollectionRecord, "name" | "status">,
  ): Promise<boolean> {
    return succeeds(
      this.#change(scope, to, ({ hold, ...rest }) =>
        hold?.migration_id === migration_id && isLive(rest) ? { ...rest, ...fields } : undefined,
      ),
      "CONFLICT",
    );
  }

  /**
   * If it is live. `mine` is called between the read and the write: whoever ends a hold changes the record, so an overtaken process holds
   * nothing.
   */
  async hold(
    scope: Scope,
    incarnation: MoveTarget,
    migration_id: string,
    ensureOwned: EnsureOwned,
  ): Promise<CollectionRecord> {
    const { record } = await this.#change(scope, incarnation, async (before) => {
      const held = isLive(before) ? heldBy(before, migration_id) : undefined;
      if (held !== undefined) await ensureOwned();
      return held;
    });
    return record;
  }

  /** Also in the trash. Does nothing if it is gone, or held by another migration. */
  async release(scope: Scope, incarnation: MoveTarget, migration_id: string): Promise<void> {
    if ((await this.#services.catalog.incarnation(scope, incarnation)) === undefined) return;
    await this.#change(scope, incarnation, (record) => freedBy(record, migration_id));
  }

  /** Read, change, write back; repeated after a conflict. Of any incarnation, also one in the trash. */
  async #change(
    scope: Scope,
    incarnation: MoveTarget,
    change: (record: CollectionRecord) => CollectionRecord | undefined | Promise<CollectionRecord | undefined>,
  ): Promise<Stored<CollectionRecord>> {
    for (;;) {
      const found = await this.#services.catalog.incarnation(scope, incarnation);
      if (found === undefined)
        throw new PinakesError("NOT_FOUND", `There is no collection "${incarnation.collection_id}".`);
      const next = await change(found.record);
      if (next === undefined) return found;
      const changed = await this.#replace(scope, next, found.record, found.etag);
      if (changed !== undefined) return changed;
    }
  }

  /** Undefined: changed concurrently. */
  async #replace(
    scope: Scope,
    next: CollectionRecord,
    before: CollectionRecord,
    ifMatch: string,
  ): Promise<Stored<CollectionRecord> | undefined> {
    const { catalog, deps } = this.#services;
    const record = named({ ...next, updated_at: laterThan(before.updated_at, deps.clock.now()) });
    try {
      const { results } = await catalog.batch(scope, record.repository_id, [
        { op: "replace", document: collectionDocument(record), ifMatch },
      ]);
      return { record, etag: results[0]?.etag as string };
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
      return undefined;
    }
  }
}
