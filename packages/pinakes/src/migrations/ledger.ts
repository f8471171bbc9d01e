/** Migrations and their units as stored. A worker's writes carry its lease: after losing it, the worker can change nothing. */
import { hasCode, PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Item, ItemStore, Operation } from "../ports/item-store.ts";
import { pagesOf } from "../runtime/pages.ts";
import {
  Migration,
  migrationsContainer,
  Unit,
  unitId,
  unitPrefix,
  type MigrationRecord,
  type UnitRecord,
} from "./records.ts";

const { name: container } = migrationsContainer;
const unitsPerBatch = 20;
const unitsPerPage = 100;

export class Ledger {
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async create(scope: Scope, record: MigrationRecord): Promise<void> {
    await this.#items.write(scope, container, [record.migration_id], { op: "create", document: record });
  }

  async read(scope: Scope, migrationId: string): Promise<MigrationRecord | undefined> {
    return (await this.#stored(scope, migrationId))?.record;
  }

  async list(
    scope: Scope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ items: MigrationRecord[]; cursor?: string | undefined }> {
    const page = await this.#items.query(scope, container, {
      index: "byCreated",
      equals: { id: "migration" },
      order: "desc",
      ...options,
    });
    return { items: page.items.map(({ document }) => Migration.parse(document)), cursor: page.cursor };
  }

  /** Read, change, write back; repeated after a conflict. */
  async update(
    scope: Scope,
    migrationId: string,
    change: (record: MigrationRecord) => MigrationRecord | undefined,
  ): Promise<MigrationRecord> {
    for (;;) {
      const found = await this.#stored(scope, migrationId);
      if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no migration "${migrationId}".`);
      const next = change(found.record);
      if (next === undefined) return found.record;
      try {
        await this.#items.write(scope, container, [migrationId], {
          op: "replace",
          document: Migration.parse(next),
          ifMatch: found.etag,
        });
        return next;
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  async *units(scope: Scope, migrationId: string): AsyncGenerator<UnitRecord> {
    for await (const page of pagesOf((cursor) => this.unitPage(scope, migrationId, { limit: unitsPerPage, cursor }))) {
      yield* page.items;
    }
  }

  async unitPage(
    scope: Scope,
    migrationId: string,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ items: UnitRecord[]; cursor?: string | undefined }> {
    const page = await this.#items.query(scope, container, {
      equals: { migration_id: migrationId },
      range: { prefix: unitPrefix },
      ...options,
    });
    return { items: page.items.map(({ document }) => Unit.parse(document)), cursor: page.cursor };
  }

  /** Requires the lease. */
  async putUnit(scope: Scope, unit: UnitRecord, owner: string): Promise<void> {
    await this.#asOwner(scope, unit.migration_id, owner, [{ op: "upsert", document: Unit.parse(unit) }]);
  }

  async removeUnits(scope: Scope, migrationId: string, owner: string): Promise<void> {
    for (;;) {
      const { items } = await this.unitPage(scope, migrationId, { limit: unitsPerBatch });
      if (items.length === 0) return;
      await this.#asOwner(
        scope,
        migrationId,
        owner,
        items.map(({ number }) => ({ op: "delete", id: unitId(number) })),
      );
    }
  }

  async #asOwner(scope: Scope, migrationId: string, owner: string, operations: readonly Operation[]): Promise<void> {
    try {
      await this.#items.batch(
        scope,
        container,
        [migrationId],
        [{ op: "check", id: "migration", where: { lease_owner: owner } }, ...operations],
      );
    } catch (error) {
      if (PinakesError.isInstance(error) && error.context.batch?.index === 0) throw lostLease(migrationId, error);
      throw error;
    }
  }

  async #stored(
    scope: Scope,
    migrationId: string,
  ): Promise<{ readonly record: MigrationRecord; readonly etag: string } | undefined> {
    const item: Item | undefined = await this.#items.read(scope, container, {
      partition: [migrationId],
      id: "migration",
    });
    return item === undefined ? undefined : { record: Migration.parse(item.document), etag: item.etag };
  }
}

export function lostLease(migrationId: string, cause?: unknown): PinakesError {
  return new PinakesError("UNAVAILABLE", `Another process is now working on migration "${migrationId}".`, { cause });
}
