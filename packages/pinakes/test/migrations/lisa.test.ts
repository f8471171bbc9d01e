/** Tables of LISA as a migration: inventory, import, a second check with nothing left to do, and the rollback. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeFolder } from "../../src/knowledge/index.ts";
import { World, type Process } from "./support/world.ts";

const model = "none";
const store = {
  repositoryId: "partition",
  config: { repositoryId: "partition", embeddingModelId: model },
  status: "CREATE_COMPLETE",
};
const papers = {
  collectionId: "papers",
  repositoryId: "partition",
  name: "Papers",
  embeddingModel: model,
  createdBy: "ann",
  status: "ACTIVE",
};
const document = (id: string, collectionId?: string) => ({
  pk: collectionId === undefined ? "partition" : `partition#${collectionId}`,
  document_id: id,
  repository_id: "partition",
  ...(collectionId === undefined ? {} : { collectionId }),
  document_name: `${id}.txt`,
  source: `s3://bucket/${id}.txt`,
  upload_date: 1_760_000_000_000,
  username: "ann",
});

async function lisaFolder(
  world: World,
  name: string,
  items: readonly object[],
  objects: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = join(world.folder, name);
  await mkdir(join(folder, "tables"), { recursive: true });
  await mkdir(join(folder, "bucket"), { recursive: true });
  await writeFile(join(folder, "tables", "all.jsonl"), items.map((item) => JSON.stringify(item)).join("\n"));
  for (const [key, content] of Object.entries(objects)) await writeFile(join(folder, "bucket", key), content);
  return folder;
}

const documentsOf = async (world: World, { knowledge }: Process, collection: string) =>
  (await knowledge.documents.list(world.admin, "partition", collection)).items
    .map(({ document_id }) => document_id)
    .toSorted();

it("R-TG-94 R-TG-99 a folder of LISA's tables is imported, verified, and recognized the second time", async () => {
  await using from = await World.open();
  await using to = await World.open();
  const first = await from.process();
  const folder = join(from.folder, "lisa");
  await first.knowledge.repositories.create(from.admin, { repository_id: "partition", name: "Shelf" });
  await first.knowledge.collections.create(from.admin, "partition", { collection_id: "papers", name: "Papers" });
  await writeFolder(first.knowledge.transfer.export(from.admin, { repositories: ["partition"] }), folder);
  await first.close();
  const process = await to.process();
  const plan = await process.plan({ kind: "lisa", folder });
  expect(plan).toMatchObject({ state: "planned", problem_count: 0, unit_count: 1 });
  await expect(process.knowledge.collections.get(to.admin, "partition", "papers")).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  expect(await process.knowledge.collections.get(to.admin, "partition", "papers")).toMatchObject({ name: "Papers" });
  const again = await process.plan({ kind: "lisa", folder });
  expect((await process.units(again.migration_id))[0]).toMatchObject({ status: "already" });
  // It imported nothing itself, so there is nothing to undo.
  expect(await process.run(again.migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  expect(await process.knowledge.collections.get(to.admin, "partition", "papers")).toMatchObject({ status: "ACTIVE" });
  const bad = join(from.folder, "bad");
  await mkdir(join(bad, "tables"), { recursive: true });
  await writeFile(join(bad, "tables", "odd.jsonl"), '{"what":"is this"}\n');
  expect((await process.plan({ kind: "lisa", folder: bad })).problems[0]?.where).toBe("tables/odd.jsonl line 1");
  await process.close();
});

it("R-LISA-33 R-TG-94 a document without collectionId goes to the default collection of its repository, and is verified there", async () => {
  await using world = await World.open();
  const process = await world.process();
  const folder = await lisaFolder(world, "legacy", [store, papers, document("new", "papers"), document("old")], {
    "new.txt": "new",
    "old.txt": "old",
  });
  const plan = await process.plan({ kind: "lisa", folder });
  expect(plan).toMatchObject({ problem_count: 0, row_count: 4 });
  expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({
    state: "switched",
    error: null,
  });
  expect(await documentsOf(world, process, model)).toEqual(["old"]);
  expect(await process.knowledge.collections.get(world.admin, "partition", model)).toMatchObject({ is_default: true });
  expect(await documentsOf(world, process, "papers")).toEqual(["new"]);
  await process.close();
});

it("R-TG-97 R-LISA-33 a rollback undoes exactly the import: collections to the trash, documents out of other collections", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  await knowledge.repositories.create(world.admin, { repository_id: "partition" });
  await knowledge.collections.create(world.admin, "partition", { collection_id: "before", name: "Before" });
  await knowledge.documents.upload(world.admin, "partition", "before", { name: "mine.txt", body: "mine" });
  const items = [papers, document("new", "papers"), document("old"), document("added", "before")];
  const folder = await lisaFolder(world, "part", items, { "new.txt": "new", "old.txt": "old", "added.txt": "added" });
  const { migration_id, problems } = await process.plan({ kind: "lisa", folder });
  expect(problems).toEqual([]);
  await process.run(migration_id, "copy", "validate", "cutover");
  expect(await documentsOf(world, process, "before")).toHaveLength(2);
  expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  await expect(knowledge.collections.get(world.admin, "partition", "papers")).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  expect(await knowledge.collections.get(world.admin, "partition", "papers", { deleted: true })).toMatchObject({
    status: "DELETED",
    document_count: 1,
  });
  expect(await documentsOf(world, process, model)).toEqual([]);
  expect((await knowledge.documents.list(world.admin, "partition", "before")).items).toMatchObject([
    { name: "mine.txt" },
  ]);
  await process.close();
});

it("R-TG-97 what others added or replaced since is not removed, unless forced; a refusal changes nothing", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  const folder = await lisaFolder(world, "used", [store, papers, document("new", "papers"), document("old")], {
    "new.txt": "new",
    "old.txt": "old",
  });
  const { migration_id } = await process.plan({ kind: "lisa", folder });
  await process.run(migration_id, "copy", "validate", "cutover");
  await knowledge.documents.upload(world.admin, "partition", "papers", { name: "since.txt", body: "since" });
  await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({
    code: "CONFLICT",
    detail: expect.stringContaining("since.txt") as string,
  });
  expect(await knowledge.collections.get(world.admin, "partition", "papers")).toMatchObject({ status: "ACTIVE" });
  expect(await documentsOf(world, process, model)).toEqual(["old"]);
  const [added] = (await knowledge.documents.list(world.admin, "partition", "papers")).items.filter(
    ({ name }) => name === "since.txt",
  );
  await knowledge.documents.delete(world.admin, "partition", "papers", added?.document_id as string);
  const { source } = await knowledge.documents.get(world.admin, "partition", model, "old");
  await knowledge.documents.upload(world.admin, "partition", model, {
    name: "old.txt",
    body: "newer",
    replace: true,
    source,
  });
  await expect(process.drive(migration_id)).rejects.toMatchObject({
    code: "CONFLICT",
    detail: expect.stringContaining("replaced") as string,
  });
  await process.migrations.rollback(world.admin, migration_id, { force: true });
  expect(await process.drive(migration_id)).toMatchObject({ state: "rolled_back" });
  expect(await documentsOf(world, process, model)).toEqual([]);
  await process.close();
});

it.each(["crash-before", "crash-after", "error-after"] as const)(
  "R-TG-97 R-TG-99 a rollback of LISA, %s at any of its calls: after a retry, all of it is undone",
  async (kind) => {
    let points = 0;
    for (let n = 0; ; n += 1) {
      await using world = await World.open();
      const quiet = await world.process();
      const folder = await lisaFolder(world, "lisa", [store, papers, document("new", "papers"), document("old")], {
        "new.txt": "new",
        "old.txt": "old",
      });
      const { migration_id } = await quiet.plan({ kind: "lisa", folder });
      await quiet.run(migration_id, "copy", "validate", "cutover");
      const process = await world.process();
      process.calls.add({ at: n, kind });
      const done = process.migrations
        .rollback(world.admin, migration_id)
        .then(() => process.drive(migration_id))
        .catch(() => {});
      await Promise.race([done, process.calls.died]);
      const reached = process.calls.names[n];
      world.now += 120_000;
      expect(await quiet.run(migration_id, "rollback"), `${kind} ${n} ${reached ?? ""}`).toMatchObject({
        state: "rolled_back",
        error: null,
      });
      expect(await documentsOf(world, quiet, model)).toEqual([]);
      await expect(quiet.knowledge.collections.get(world.admin, "partition", "papers")).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      if (!process.calls.dead) await process.close();
      await quiet.close();
      if (reached === undefined) break;
      points += 1;
    }
    expect(points).toBeGreaterThan(8);
  },
);
