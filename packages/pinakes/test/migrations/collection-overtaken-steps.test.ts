/**
 * `migrate-collection` whose copy, or whose rollback, is overtaken by a rollback in another process: it holds, creates and undoes nothing
 * after that.
 */
import { expect, it } from "vitest";
import { contentsOf, plant } from "./support/planted-collection.ts";
import { quietWorld } from "./support/quiet-world.ts";
import { type Process } from "./support/world.ts";

const { world, quiet } = await quietWorld();
let names = 0;

interface Planted {
  readonly from: string;
  readonly repository: string;
  readonly before: string;
  readonly id: string;
}

/** To its own repository, to stay within the limit of collections. */
async function planted(): Promise<Planted> {
  const from = `c${(names += 1)}`;
  const repository = `r${names}`;
  await quiet.knowledge.repositories.create(world.admin, { repository_id: repository });
  await plant(world, quiet, from);
  const before = JSON.stringify(await contentsOf(world, "kb", from));
  const { migration_id: id } = await quiet.plan({
    kind: "collection",
    repository: "kb",
    collection: from,
    to: { repository },
  });
  return { from, repository, before, id };
}

const isThere = (repository: string, collection: string) =>
  quiet.knowledge.collections.get(world.admin, repository, collection).then(
    () => true,
    () => false,
  );

/** The old one unchanged and open, no new one. */
async function expectBack({ from, repository, before }: Planted, what: string): Promise<void> {
  expect([await isThere("kb", from), await isThere(repository, from)], what).toEqual([true, false]);
  expect(JSON.stringify(await contentsOf(world, "kb", from)), what).toBe(before);
  expect(await quiet.knowledge.collections.get(world.admin, "kb", from), what).not.toHaveProperty("held_by");
  await quiet.knowledge.collections.update(world.admin, "kb", from, { description: "open for writers" });
  await quiet.knowledge.collections.delete(world.admin, "kb", from);
}

/** A process that executes a step and pauses at its n-th call, until resumed. */
async function stoppedAt(n: number, work: (process: Process) => Promise<unknown>) {
  const process = await world.process();
  const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  process.calls.add({ at: n, kind: "hold", until: overtaken.promise, reached: reached.resolve });
  const working = work(process).catch(() => {});
  const isStopped = await Promise.race([working.then(() => false), reached.promise.then(() => true)]);
  // A paused process keeps its lease for a while.
  world.now += 120_000;
  const goOn = async () => {
    overtaken.resolve();
    await working;
    await process.close();
  };
  return { isStopped, goOn, name: process.calls.names[n] ?? "none" };
}

it("R-TG-63 R-TG-99 a copy overtaken by a rollback, wherever it was, holds nothing and leaves nothing", async () => {
  let points = 0;
  for (let n = 0; ; n += 1) {
    const made = await planted();
    const copy = await stoppedAt(n, async ({ migrations }) => {
      await migrations.copy(world.admin, made.id);
      await migrations.drive(world.admin, made.id);
    });
    const what = `${n} ${copy.name}`;
    expect(await quiet.run(made.id, "rollback"), what).toMatchObject({ state: "rolled_back", error: null });
    await copy.goOn();
    expect(await quiet.migrations.get(world.admin, made.id), what).toMatchObject({ state: "rolled_back", error: null });
    await expectBack(made, what);
    if (!copy.isStopped) break;
    points += 1;
  }
  expect(points).toBeGreaterThan(40);
});

it("R-TG-63 R-TG-99 what an overtaken copy created just before it died is removed by another rollback of the same migration", async () => {
  const made = await planted();
  const other = await world.process();
  const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let batches = 0;
  // The hold of the old one is the first, tag rows are the second, the new one is the third.
  other.calls.add({
    at: (name) => name === "items.batch collections" && (batches += 1) === 3,
    kind: "hold",
    until: overtaken.promise,
    reached: reached.resolve,
  });
  await other.migrations.copy(world.admin, made.id);
  void other.drive(made.id).catch(() => {});
  await reached.promise;
  world.now += 120_000;
  expect(await quiet.run(made.id, "rollback")).toMatchObject({ state: "rolled_back" });
  other.calls.add({ at: () => true, kind: "crash-before" });
  overtaken.resolve();
  await other.calls.died;
  expect(await quiet.knowledge.collections.get(world.admin, made.repository, made.from)).toMatchObject({
    held_by: made.id,
  });
  expect(await quiet.run(made.id, "rollback")).toMatchObject({ state: "rolled_back", error: null });
  await expectBack(made, "after the second rollback");
});

it("R-TG-63 R-TG-97 an overtaken rollback does not undo what came after it: a delete of the old one, a restore of the new one", async () => {
  const undone: string[] = [];
  let points = 0;
  for (let n = 0; ; n += 1) {
    const made = await planted();
    await quiet.run(made.id, "copy", "validate", "cutover");
    const rollback = await stoppedAt(n, async ({ migrations }) => {
      await migrations.rollback(world.admin, made.id);
      await migrations.drive(world.admin, made.id);
    });
    const what = `${n} ${rollback.name}`;
    expect(await quiet.run(made.id, "rollback"), what).toMatchObject({ state: "rolled_back", error: null });
    await quiet.knowledge.collections.delete(world.admin, "kb", made.from);
    await quiet.knowledge.collections.restore(world.admin, made.repository, made.from);
    await rollback.goOn();
    expect(await isThere(made.repository, made.from), what).toBe(true);
    await quiet.knowledge.collections.update(world.admin, made.repository, made.from, {
      description: "open for writers",
    });
    if (await isThere("kb", made.from)) undone.push(rollback.name);
    if (!rollback.isStopped) break;
    points += 1;
  }
  expect(points).toBeGreaterThan(60);
  expect(undone).toEqual([]);
});

it("R-TG-63 R-TG-97 a second rollback leaves alone what was done since the first: a restored copy, and a deleted old one", async () => {
  const made = await planted();
  await quiet.run(made.id, "copy", "validate", "cutover", "rollback");
  await quiet.knowledge.collections.restore(world.admin, made.repository, made.from);
  await quiet.knowledge.collections.delete(world.admin, "kb", made.from);
  expect(await quiet.run(made.id, "rollback")).toMatchObject({ state: "rolled_back", error: null });
  expect([await isThere("kb", made.from), await isThere(made.repository, made.from)]).toEqual([false, true]);
  await quiet.knowledge.collections.update(world.admin, made.repository, made.from, {
    description: "open for writers",
  });
});
