/** `migrate-collection` on durable engines: forward, back, and in races. */
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openDynamoItems } from "../../src/drivers/dynamodb/index.ts";
import { testConnection } from "../../src/drivers/dynamodb/test-server.ts";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { openPostgresTriples } from "../../src/drivers/postgres/triples/index.ts";
import { openSqliteItems, openSqliteTriples } from "../../src/drivers/sqlite/index.ts";
import { useServers } from "../support/servers.ts";
import { contentsOf, plant } from "./support/planted-collection.ts";
import { World, type WorldStores } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();
const dir = temporaryFolder("moved");

const engines: Readonly<Record<string, () => WorldStores>> = {
  SQLite: () => ({
    items: (options) => openSqliteItems({ dir, ...options }),
    triples: () => openSqliteTriples({ dir }),
  }),
  PostgreSQL: () => ({
    items: (options) => openPostgresItems({ url: postgres(), ...options }),
    triples: () => openPostgresTriples({ url: postgres() }),
  }),
  DynamoDB: () => ({
    items: (options) =>
      openDynamoItems({
        ...testConnection,
        endpoint: new URL(dynamo("moved")).searchParams.get("endpoint") as string,
        prefix: "moved",
        ...options,
      }),
  }),
};

describe.each(Object.keys(engines))("on %s", (engine) => {
  const world = forAllTests(() => World.open(engines[engine]?.()));
  const process = forAllTests(() => world.process());
  beforeAll(async () => {
    await process.knowledge.repositories.create(world.admin, { repository_id: "attic" });
  });

  /** Rows without location-dependent names. */
  const contents = async (repository: string, collection: string) =>
    JSON.stringify(await contentsOf(world, repository, collection)).replaceAll(
      `:${repository}:${collection}:`,
      ":R:C:",
    );
  const source = (collection: string) => ({
    kind: "collection",
    repository: "kb",
    collection,
    to: { repository: "attic" },
  });
  const isOpen = (repository: string, collection: string) =>
    process.knowledge.collections.update(world.admin, repository, collection, { description: "All of them" }).then(
      () => true,
      () => false,
    );

  it("R-TG-63 R-TG-96 R-TG-97 R-TG-98 everything is moved, proved equal, held meanwhile, rolled back, moved again, and the old one is removed", async () => {
    await plant(world, process, "papers");
    const before = await contents("kb", "papers");
    const { migration_id } = await process.plan(source("papers"));
    expect(await process.run(migration_id, "copy", "validate")).toMatchObject({ state: "ready", error: null });
    expect([await isOpen("kb", "papers"), await isOpen("attic", "papers")]).toEqual([false, false]);
    expect(await process.run(migration_id, "cutover")).toMatchObject({ state: "switched" });
    expect(await contents("attic", "papers")).toBe(before);
    expect([await isOpen("kb", "papers"), await isOpen("attic", "papers")]).toEqual([false, true]);
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await contents("kb", "papers")).toBe(before);
    expect([await isOpen("kb", "papers"), await isOpen("attic", "papers")]).toEqual([true, false]);
    const again = await process.plan(source("papers"));
    await process.run(again.migration_id, "copy", "validate", "cutover");
    expect(await process.finish(again.migration_id, { remove_old: true, now: true })).toMatchObject({
      state: "finished",
    });
    expect(await contents("attic", "papers")).toBe(before);
    await expect(process.knowledge.collections.restore(world.admin, "kb", "papers")).rejects.toMatchObject({
      code: "GONE",
    });
  });

  it("R-TG-63 what differed is copied again, and then equal", async () => {
    const { incarnation } = await plant(world, process, "late");
    const { migration_id } = await process.plan(source("late"));
    await process.run(migration_id, "copy");
    await world.triples.write(world.admin.scope, incarnation, {
      insert: [{ s: "<http://x/s>", p: "<http://x/p>", o: '"late"', g: "" }],
    });
    expect(await process.run(migration_id, "validate")).toMatchObject({
      state: "copied",
      error: expect.stringContaining("late") as string,
    });
    expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
      state: "switched",
      error: null,
    });
  });

  it("R-TG-63 R-TG-99 a switch overtaken by a rollback before it hides the old one leaves that alone", async () => {
    await plant(world, process, "slow");
    const before = await contents("kb", "slow");
    const { migration_id } = await process.plan(source("slow"));
    await process.run(migration_id, "copy", "validate");
    const other = await world.process();
    const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    other.calls.add({
      at: (name) => name === "items.batch collections",
      kind: "hold",
      until: overtaken.promise,
      reached: reached.resolve,
    });
    await other.migrations.cutover(world.admin, migration_id);
    const switching = other.drive(migration_id).catch((error: unknown) => error);
    await reached.promise;
    world.now += 120_000;
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back", error: null });
    overtaken.resolve();
    expect(await switching).toMatchObject({ code: "UNAVAILABLE" });
    expect(await contents("kb", "slow")).toBe(before);
    expect([await isOpen("kb", "slow"), await isOpen("attic", "slow")]).toEqual([true, false]);
    await other.close();
  });

  it("R-TG-63 R-TG-97 a rollback that failed once, and whose old id is then taken, leaves the new one", async () => {
    await plant(world, process, "lost");
    const before = await contents("kb", "lost");
    const { migration_id } = await process.plan(source("lost"));
    await process.run(migration_id, "copy", "validate", "cutover");
    const other = await world.process();
    let batches = 0;
    // The hold and the trash of the new one precede the batch that restores the old one.
    other.calls.add({ at: (name) => name === "items.batch collections" && (batches += 1) === 3, kind: "error-before" });
    await other.migrations.rollback(world.admin, migration_id);
    await expect(other.drive(migration_id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([await isOpen("kb", "lost"), await isOpen("attic", "lost")]).toEqual([false, false]);
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "lost", name: "Another" });
    await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await isOpen("attic", "lost")).toBe(true);
    await process.knowledge.collections.delete(world.admin, "kb", "lost");
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await contents("kb", "lost")).toBe(before);
    await other.close();
  });
});
