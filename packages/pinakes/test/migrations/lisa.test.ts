/** Tables of LISA as a migration: inventory, import, and a second look in which nothing is left to do. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeFolder } from "../../src/knowledge/index.ts";
import { World } from "./support/world.ts";

it("R-TG-94 R-TG-99 a folder of LISA's tables is imported, proved, and found to be here the second time", async () => {
  await using from = await World.open();
  await using to = await World.open();
  const first = await from.process();
  const folder = join(from.folder, "lisa");
  await first.knowledge.createRepository(from.admin, { repository_id: "shelf", name: "Shelf" });
  await first.knowledge.createCollection(from.admin, "shelf", { collection_id: "papers", name: "Papers" });
  await writeFolder(first.knowledge.export(from.admin, { repositories: ["shelf"] }), folder);
  await first.close();
  const process = await to.process();
  const plan = await process.plan({ kind: "lisa", folder });
  expect(plan).toMatchObject({ state: "planned", problem_count: 0, unit_count: 1 });
  await expect(process.knowledge.collection(to.admin, "shelf", "papers")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  expect(await process.knowledge.collection(to.admin, "shelf", "papers")).toMatchObject({ name: "Papers" });
  const again = await process.plan({ kind: "lisa", folder });
  expect((await process.units(again.migration_id))[0]).toMatchObject({ status: "already" });
  // It brought its own collections: there is no automatic way back, and that is said.
  await expect(process.run(plan.migration_id, "rollback")).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
  const bad = join(from.folder, "bad");
  await mkdir(join(bad, "tables"), { recursive: true });
  await writeFile(join(bad, "tables", "odd.jsonl"), '{"what":"is this"}\n');
  expect((await process.plan({ kind: "lisa", folder: bad })).problems[0]?.where).toBe("tables/odd.jsonl line 1");
  await process.close();
});
