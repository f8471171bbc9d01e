/** `migrate-collection` in races: writers admitted before the hold, a switch overtaken by a rollback, a rollback that fails part-way. */
import { expect, it } from "vitest";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { until } from "../support/until.ts";
import { contentsOf, plant } from "./support/planted-collection.ts";
import { quietWorld } from "./support/quiet-world.ts";

const { world, quiet } = await quietWorld();
let names = 0;

const source = (collection: string, to: object) => ({ kind: "collection", repository: "kb", collection, to });

/** To its own repository, to stay within the limit of collections. */
async function planted(): Promise<{
  readonly from: string;
  readonly repository: string;
  readonly before: string;
  readonly id: string;
}> {
  const from = `c${(names += 1)}`;
  const repository = `r${names}`;
  await quiet.knowledge.repositories.create(world.admin, { repository_id: repository });
  await plant(world, quiet, from);
  const before = JSON.stringify(await contentsOf(world, "kb", from));
  const { migration_id: id } = await quiet.plan(source(from, { repository }));
  return { from, repository, before, id };
}

async function isReadable(repository: string, collection: string): Promise<boolean> {
  return quiet.knowledge.collections.get(world.admin, repository, collection).then(
    () => true,
    () => false,
  );
}

/** The old one unchanged and open, the new one in the trash. */
async function expectBack(
  { from, repository, before }: Awaited<ReturnType<typeof planted>>,
  what: string,
): Promise<void> {
  expect([await isReadable("kb", from), await isReadable(repository, from)], what).toEqual([true, false]);
  expect(JSON.stringify(await contentsOf(world, "kb", from)), what).toBe(before);
  await quiet.knowledge.collections.update(world.admin, "kb", from, { description: "open for writers" });
  await quiet.knowledge.graph.sparql(world.admin, "kb", from, {
    update: "INSERT DATA { <http://x/s> <http://x/p> <http://x/o> }",
  });
  await quiet.knowledge.collections.delete(world.admin, "kb", from);
}

it("R-TG-63 R-TG-98 a load of triples started before the hold is stopped by it: nothing is written that the switch would leave behind", async () => {
  const { from, id } = await planted();
  const [opened, copied] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = async function* () {
    opened.resolve();
    yield Buffer.from("<http://x/late> <http://x/p> <http://x/o> .\n");
    await copied.promise;
  };
  const load = quiet.knowledge.graph.loadTriples(world.admin, "kb", from, { format: "ntriples", body: body() });
  await opened.promise;
  expect(await quiet.run(id, "copy", "validate")).toMatchObject({ state: "ready", error: null });
  copied.resolve();
  await expect(load).rejects.toMatchObject({ code: "UNAVAILABLE", detail: expect.stringContaining(id) as string });
  expect(await quiet.run(id, "cutover")).toMatchObject({ state: "switched", error: null });
});

it.each(["at its beginning", "while it begins"] as const)(
  "R-TG-63 R-TG-98 a re-index that meets the hold %s has not started, and waits for its end",
  async (when) => {
    const { from, id } = await planted();
    const { incarnation } = await quiet.knowledge.collections.get(world.admin, "kb", from);
    const other = await world.process();
    const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Its job reads the collection first; the first batch on documents is the one that starts it.
    const at = when === "while it begins" ? "items.batch documents" : "items.readMany collections";
    let calls = 0;
    // The request itself reads the collection once.
    other.calls.add({
      at: (name) => name === at && (calls += 1) > (when === "while it begins" ? 0 : 1),
      kind: "hold",
      until: held.promise,
      reached: reached.resolve,
    });
    const { job_id } = await other.knowledge.collections.reindex(world.admin, "kb", from);
    await reached.promise;
    expect(await quiet.run(id, "copy")).toMatchObject({ state: "copied", error: null });
    held.resolve();
    const waiting = await until(async () => {
      const job = await quiet.knowledge.jobs.get(world.admin, job_id);
      return job.error === null ? undefined : job;
    });
    expect(waiting).toMatchObject({
      status: "running",
      error: expect.stringContaining(`while migration "${id}" is in progress`) as string,
    });
    const fence = async () =>
      (
        await new CollectionPartition(world.items, world.admin.scope, {
          repository_id: "kb",
          collection_id: from,
          incarnation,
        }).fence()
      )?.record;
    expect((await fence())?.next ?? null).toBe(null);
    expect(await quiet.run(id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
    await other.close();
  },
);

it("R-TG-63 R-TG-99 a switch overtaken by a rollback, wherever it was, does not hide the old one again", async () => {
  // The calls of a switch after its commit point.
  const sample = await planted();
  await quiet.run(sample.id, "copy", "validate");
  const begun = quiet.calls.names.length;
  await quiet.run(sample.id, "cutover");
  const calls = quiet.calls.names.slice(begun);
  const first = calls.indexOf("items.batch collections") - 8;
  expect(first).toBeGreaterThan(0);
  let stopped = 0;
  for (let n = first; ; n += 1) {
    const made = await planted();
    await quiet.run(made.id, "copy", "validate");
    const other = await world.process();
    const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    other.calls.add({ at: n, kind: "hold", until: overtaken.promise, reached: reached.resolve });
    await other.migrations.cutover(world.admin, made.id);
    const switching = other.drive(made.id).then(
      () => "done" as const,
      () => "refused" as const,
    );
    const ended = await Promise.race([switching, reached.promise.then(() => "stopped" as const)]);
    // A paused process keeps its lease for a while.
    world.now += 120_000;
    await quiet.run(made.id, "rollback");
    overtaken.resolve();
    await switching;
    const what = `${n} ${other.calls.names[n] ?? "none"}`;
    expect(await quiet.migrations.get(world.admin, made.id), what).toMatchObject({ state: "rolled_back", error: null });
    await expectBack(made, what);
    await other.close();
    if (ended !== "stopped") break;
    stopped += 1;
  }
  expect(stopped).toBeGreaterThan(15);
});

it("R-TG-63 R-TG-97 a rollback that failed anywhere, and can no longer succeed, leaves the new one", async () => {
  let refused = 0;
  for (let n = 0; ; n += 1) {
    const made = await planted();
    const { from, repository, id } = made;
    await quiet.run(id, "copy", "validate", "cutover");
    const other = await world.process();
    other.calls.add({ at: n, kind: "error-before" });
    await other.migrations
      .rollback(world.admin, id)
      .then(() => other.drive(id))
      .catch(() => {});
    const reached = other.calls.names[n];
    const what = `${n} ${reached ?? "none"}`;
    world.now += 120_000;
    // Another collection takes the id while it is free.
    const taken = await quiet.knowledge.collections
      .create(world.admin, "kb", { collection_id: from, name: "Another" })
      .then(
        () => true,
        () => false,
      );
    if (taken) {
      await expect(quiet.run(id, "rollback"), what).rejects.toMatchObject({ code: "CONFLICT" });
      expect(await isReadable(repository, from), what).toBe(true);
      await quiet.knowledge.collections.update(world.admin, repository, from, { description: "open for writers" });
      await quiet.knowledge.collections.update(world.admin, repository, from, { description: "All of them" });
      await quiet.knowledge.collections.delete(world.admin, "kb", from);
      refused += 1;
    }
    expect(await quiet.run(id, "rollback"), what).toMatchObject({ state: "rolled_back" });
    await expectBack(made, what);
    await other.close();
    if (reached === undefined) break;
  }
  expect(refused).toBeGreaterThan(20);
});
