/** Stores that outlive the processes over them, for tests of migrations: every call of a process to a store is under the test's control. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeCaller, type Caller } from "../../../src/domain/caller.ts";
import { systemScope } from "../../../src/domain/scope.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../../src/drivers/memory-objects/index.ts";
import {
  openKnowledge,
  quotaDefaults,
  type Knowledge,
  type KnowledgeDependencies,
} from "../../../src/knowledge/index.ts";
import type { Lifecycle } from "../../../src/lifecycle/index.ts";
import { Migrations, type MigrationView, type UnitView } from "../../../src/migrations/index.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import type { TripleStore } from "../../../src/ports/triple-store.ts";
import { openItemQueue } from "../../../src/queues/item-queue/index.ts";
import { openItemTriples } from "../../../src/triples/on-items/index.ts";
import { openVectors, type OpenedVectors } from "../../../src/vectors/index.ts";
import { watched } from "../../support/watched.ts";
import { withoutModels } from "../../support/without-models.ts";
import { Calls } from "../../vectors/support/calls.ts";

const system = systemScope("tests of migrations", () => {});

/** Absent ones are in memory, and quads are on the items. */
export interface WorldStores {
  readonly items?: (options: { readonly clock: Clock }) => Promise<ItemStore>;
  readonly triples?: () => Promise<TripleStore>;
}

export class World implements AsyncDisposable {
  now = Date.UTC(2030, 0, 1);
  readonly admin: Caller = makeCaller({ tenant: "acme", userId: "root", role: "admin" });
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly triples: TripleStore;
  readonly vectors: OpenedVectors;
  readonly folder: string;

  private constructor(deps: Pick<World, "items" | "objects" | "triples" | "vectors" | "folder">) {
    ({
      items: this.items,
      objects: this.objects,
      triples: this.triples,
      vectors: this.vectors,
      folder: this.folder,
    } = deps);
  }

  static async open(stores: WorldStores = {}): Promise<World> {
    const later: { world?: World } = {};
    const clock = { now: () => later.world?.now ?? Date.UTC(2030, 0, 1) };
    const items = await (stores.items ?? openMemoryItems)({ clock });
    const objects = openMemoryObjects({ clock });
    const vectors = await openVectors({ items, objects, clock, system, threads: 1 });
    const quads = (await stores.triples?.()) ?? (await openItemTriples({ items, scope: system }));
    const folder = await mkdtemp(join(tmpdir(), "pinakes-migrations-"));
    later.world = new World({ items, objects, triples: quads, vectors, folder });
    const process = await later.world.process();
    await process.knowledge.repositories.create(later.world.admin, { repository_id: "kb" });
    await process.close();
    return later.world;
  }

  async process(sources: readonly string[] | "any" = "any"): Promise<Process> {
    const calls = new Calls();
    const clock = { now: () => this.now };
    const gate = { on: false };
    const items = watched("items", this.items, calls, gate);
    const stores = {
      items,
      triples: watched("triples", this.triples, calls, gate),
      vectors: watched("vectors", this.vectors.vectors, calls, gate),
    };
    const deps: KnowledgeDependencies = {
      ...stores,
      objects: watched("objects", this.objects, calls, gate),
      queue: await openItemQueue({ items, clock }),
      ...withoutModels,
      clock,
      system,
      quotas: quotaDefaults,
      callerOf: makeCaller,
      newId: () => randomUUID(),
      log: () => {},
    };
    const owner = randomUUID();
    const opened = await openKnowledge({ ...deps, owner, ingestPlaces: 1 });
    const common = { clock, system, callerOf: makeCaller, newId: () => randomUUID(), log: () => {}, owner, sources };
    const migrations = await new Migrations({
      ...stores,
      ...common,
      knowledge: opened.knowledge,
      intake: opened.intake,
    }).open();
    gate.on = true;
    return new Process(this, {
      knowledge: opened.knowledge,
      lifecycle: opened.lifecycle,
      migrations,
      calls,
      sweep: () => opened.sweep(new AbortController().signal),
      close: () => opened.close(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vectors.close();
    await this.triples.close();
    await this.items.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface ProcessParts {
  readonly knowledge: Knowledge;
  readonly lifecycle: Lifecycle;
  readonly migrations: Migrations;
  readonly calls: Calls;
  /** One round over the unfinished work of collections. */
  readonly sweep: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export class Process implements ProcessParts {
  readonly world: World;
  readonly knowledge: Knowledge;
  readonly lifecycle: Lifecycle;
  readonly migrations: Migrations;
  readonly calls: Calls;
  /** One round over the unfinished work of collections. */
  readonly sweep: () => Promise<void>;
  readonly close: () => Promise<void>;

  constructor(world: World, { knowledge, lifecycle, migrations, calls, sweep, close }: ProcessParts) {
    this.world = world;
    this.knowledge = knowledge;
    this.lifecycle = lifecycle;
    this.migrations = migrations;
    this.calls = calls;
    this.sweep = sweep;
    this.close = close;
  }

  async plan(source: unknown, options: { readonly retain_days?: number } = {}): Promise<MigrationView> {
    const { migration_id } = await this.migrations.create(this.world.admin, { source, ...options });
    return this.drive(migration_id);
  }

  async drive(id: string): Promise<MigrationView> {
    return this.migrations.drive(this.world.admin, id);
  }

  /** Requests one step after the other, and executes each. */
  async run(
    id: string,
    ...steps: readonly ("plan" | "copy" | "validate" | "cutover" | "rollback")[]
  ): Promise<MigrationView> {
    for (const step of steps) {
      await this.migrations[step](this.world.admin, id);
      await this.drive(id);
    }
    return this.migrations.get(this.world.admin, id);
  }

  async finish(id: string, options: { readonly remove_old?: boolean; readonly now?: boolean }): Promise<MigrationView> {
    await this.migrations.finish(this.world.admin, id, options);
    return this.drive(id);
  }

  async units(id: string): Promise<UnitView[]> {
    return (await this.migrations.units(this.world.admin, id, { limit: 100 })).items;
  }
}

/** A legacy file: one table per collection, with texts only. */
export function legacyFile(
  path: string,
  tables: Readonly<Record<string, readonly (readonly (string | null)[])[]>>,
  columns = "s TEXT, p TEXT, o TEXT",
): void {
  const db = new DatabaseSync(path);
  for (const [name, rows] of Object.entries(tables)) {
    db.exec(`CREATE TABLE "${name}" (${columns})`);
    const put = db.prepare(
      `INSERT INTO "${name}" VALUES (${columns
        .split(",")
        .map(() => "?")
        .join(", ")})`,
    );
    db.exec("BEGIN");
    for (const row of rows) put.run(...row);
    db.exec("COMMIT");
  }
  db.close();
}

export function triples(count: number, salt = ""): (readonly [string, string, string])[] {
  return Array.from(
    { length: count },
    (_, i) =>
      [`http://x/s${salt}${i % 37}`, `http://x/p${i % 5}`, i % 3 === 0 ? `http://x/o${i}` : `words ${i}`] as const,
  );
}
