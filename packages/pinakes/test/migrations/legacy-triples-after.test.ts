/** After the switch: removing or keeping the old tables, the rollback, the same source again; and exports as files. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { body, fileIn, makeUser, source, tablesOf, triplesOf } from "./support/legacy-files.ts";
import { triples, World, type legacyFile } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
const file = (tables: Parameters<typeof legacyFile>[1], columns?: string) => fileIn(world, tables, columns);

describe("cleanup and rollback", () => {
  it("R-TG-96 old tables are removed only after a verified success and with an explicit flag", async () => {
    const path = file({ ida__a: triples(10), ida__b: triples(4) });
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await expect(
      process.migrations.finish(world.admin, migration_id, { remove_old: true, now: true }),
    ).rejects.toMatchObject({ code: "INVALID" });
    await process.run(migration_id, "copy", "validate", "cutover");
    await expect(process.migrations.finish(world.admin, migration_id, { remove_old: true })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("kept until"),
    });
    expect(tablesOf(path)).toEqual(before);
    // Changed since the verification.
    const db = new DatabaseSync(path);
    db.exec("INSERT INTO ida__b VALUES ('http://x/new', 'http://x/p', 'late')");
    await expect(process.finish(migration_id, { remove_old: true, now: true })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("has changed since"),
    });
    expect(Object.keys(tablesOf(path))).toEqual(["ida__b"]);
    db.exec("DELETE FROM ida__b WHERE o = 'late'");
    db.close();
    expect(await process.drive(migration_id)).toMatchObject({ state: "finished" });
    expect(tablesOf(path)).toEqual({});
  });

  it("R-TG-96 without the flag a finished migration leaves the tables", async () => {
    const path = file({ jan__a: triples(3) });
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    expect(await process.finish(migration_id, {})).toMatchObject({ state: "finished", remove_old: false });
    expect(tablesOf(path)).toEqual(before);
  });

  it("R-TG-97 rollback recreates removed tables with an equal hash, including indexes and later writes", async () => {
    const path = file({ kim__a: triples(3_000) });
    const db = new DatabaseSync(path);
    db.exec("CREATE INDEX by_o ON kim__a (o)");
    db.close();
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    await process.finish(migration_id, { remove_old: true, now: true });
    expect(tablesOf(path)).toEqual({});
    const [{ hash, count } = { hash: "", count: 0 }] = await process.units(migration_id);
    await process.knowledge.graph.loadTriples(makeUser("kim"), "me", "a", {
      format: "ntriples",
      body: body('<http://x/zz> <http://x/b> "since then" .'),
    });
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    const [unit] = await process.units(migration_id);
    expect(unit).toMatchObject({ old: "restored", held_count: count + 1 });
    const back = tablesOf(path)["kim__a"] as unknown[];
    expect(back).toHaveLength(count + 1);
    expect(back.filter((row) => (row as string[])[2] !== "since then")).toEqual(before["kim__a"]);
    const again = new DatabaseSync(path);
    expect(again.prepare("SELECT name FROM sqlite_master WHERE type = 'index'").all()).toEqual([{ name: "by_o" }]);
    again.exec("DELETE FROM kim__a WHERE o = 'since then'");
    again.close();
    // The same table, measured by a new inventory, has the first hash. The collection is in the trash.
    const plan = await process.plan(source(path));
    expect((await process.units(plan.migration_id))[0]).toMatchObject({ hash, count, status: "planned" });
    await expect(process.knowledge.collections.get(makeUser("kim"), "me", "a")).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("R-TG-97 a rollback before the switch leaves the source unchanged; one that would lose something is refused", async () => {
    const path = file({ leo__a: triples(9) });
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "rollback");
    expect(tablesOf(path)).toEqual(before);
    await expect(process.knowledge.collections.get(makeUser("leo"), "me", "a")).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const second = (await process.plan(source(path))).migration_id;
    await process.run(second, "copy", "validate", "cutover");
    await process.finish(second, { remove_old: true, now: true });
    await process.knowledge.graph.loadTriples(makeUser("leo"), "me", "a", {
      format: "ntriples",
      body: body('<http://x/a> <http://x/b> "mot"@fr .'),
    });
    await expect(process.run(second, "rollback")).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("language"),
    });
    expect(tablesOf(path)).toEqual({});
    // It returns to its previous state, so that the obstacle can be removed.
    expect(await process.migrations.get(world.admin, second)).toMatchObject({
      state: "finished",
      error: expect.stringContaining("language") as string,
    });
    await process.knowledge.graph.sparql(makeUser("leo"), "me", "a", {
      update: 'DELETE DATA { <http://x/a> <http://x/b> "mot"@fr }',
    });
    expect(await process.run(second, "rollback")).toMatchObject({ state: "rolled_back", error: null });
    expect(tablesOf(path)).toEqual(before);
  });

  it("R-TG-97 later documents are not dropped without force", async () => {
    const path = file({ mia__a: triples(2) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    await process.knowledge.documents.upload(makeUser("mia"), "me", "a", { name: "a.txt", body: "text" });
    await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("1 documents"),
    });
    expect(await process.migrations.get(world.admin, migration_id)).toMatchObject({
      state: "switched",
      error: expect.stringContaining("1 documents") as string,
    });
    await process.migrations.rollback(world.admin, migration_id, { force: true });
    expect(await process.drive(migration_id)).toMatchObject({ state: "rolled_back", error: null });
  });

  it("R-TG-97 if one of several cannot be rolled back, none is", async () => {
    const path = file({ oda__a: triples(3), oda__b: triples(4) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    await process.knowledge.documents.upload(makeUser("oda"), "me", "b", { name: "b.txt", body: "text" });
    await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await process.units(migration_id)).map(({ status }) => status)).toEqual(["switched", "switched"]);
    for (const id of ["a", "b"])
      await process.knowledge.collections.update(makeUser("oda"), "me", id, { description: "open for writers" });
  });
});

describe("again", () => {
  it("R-TG-99 the same source again is recognized as migrated, and nothing is done", async () => {
    const path = file({ ned__a: triples(100) });
    const first = (await process.plan(source(path))).migration_id;
    await process.run(first, "copy", "validate", "cutover");
    for (const step of ["copy", "validate", "cutover"] as const)
      expect(await process.run(first, step)).toMatchObject({ state: "switched" });
    const second = (await process.plan(source(path))).migration_id;
    expect((await process.units(second))[0]).toMatchObject({ status: "already" });
    const before = await process.knowledge.collections.get(makeUser("ned"), "me", "a");
    expect(await process.run(second, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    // Not even the rollback of the second touches what the first one created.
    await process.run(second, "rollback");
    expect(await process.knowledge.collections.get(makeUser("ned"), "me", "a")).toEqual(before);
  });

  it("R-TG-94 tables that differ in case become two collections, and both ways end", async () => {
    const folder = join(world.folder, "letters");
    await mkdir(folder);
    // Not every disk distinguishes file names by case: the mapping names them.
    const tables = { pia__1: { collection: "Case" }, pia__2: { collection: "case" } };
    for (const [table, { collection }] of Object.entries(tables))
      await writeFile(join(folder, `${table}.csv`), `s,p,o\nhttp://x/s,http://x/p,${collection}\n`);
    const plan = await process.plan({ kind: "triples", csv: folder, separator: "__", objects: "literal", tables });
    expect(plan).toMatchObject({ unit_count: 2, problem_count: 0 });
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    for (const name of ["Case", "case"])
      expect((await triplesOf(process, "pia", name)).map(({ o }) => o)).toEqual([{ type: "literal", value: name }]);
    const names = await Promise.all(
      ["Case", "case"].map(async (id) => (await process.knowledge.collections.get(makeUser("pia"), "me", id)).name),
    );
    expect(names).toEqual(["Case", expect.stringMatching(/^case [0-9a-f]{8}$/)]);
    expect(await process.run(plan.migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  });

  it("reads cqlsh exports, with the number of an invalid row", async () => {
    const folder = join(world.folder, "csv");
    await mkdir(folder);
    await writeFile(
      join(folder, "ola__a.csv"),
      's,p,o\nhttp://x/s,http://x/p,"say \\"hi\\", twice"\nhttp://x/s,http://x/p,"two\nlines"\nhttp://x/s,http://x/p,"two\nlines"\n',
    );
    await writeFile(join(folder, "ola__bad.csv"), "s,p,o\nhttp://x/s,http://x/p\n");
    const bad = await process.plan({ kind: "triples", csv: folder, separator: "__", objects: "literal" });
    expect(bad.problems).toEqual([{ where: "ola__bad row 2", reason: "has 2 columns; the table has 3 (s, p, o)." }]);
    const plan = await process.plan({
      kind: "triples",
      csv: folder,
      separator: "__",
      objects: "literal",
      tables: { ola__bad: { skip: true } },
    });
    await process.run(plan.migration_id, "copy", "validate", "cutover");
    expect((await triplesOf(process, "ola", "a")).map(({ o }) => o.value).toSorted()).toEqual([
      'say "hi", twice',
      "two\nlines",
    ]);
    expect(await process.finish(plan.migration_id, { remove_old: true, now: true })).toMatchObject({
      state: "finished",
    });
    expect(
      (
        await process.plan({
          kind: "triples",
          csv: folder,
          separator: "__",
          objects: "literal",
          tables: { ola__bad: { skip: true } },
        })
      ).problem_count,
    ).toBe(0);
    const headless = join(world.folder, "headless");
    await mkdir(headless);
    await writeFile(join(headless, "t.csv"), "http://x/s,http://x/p,o\n");
    const without = await process.plan({ kind: "triples", csv: headless, repository: "kb", objects: "literal" });
    expect(without.problems[0]?.reason).toContain('has no column "s", "p"');
    expect(
      await process.plan({
        kind: "triples",
        csv: headless,
        repository: "kb",
        objects: "literal",
        csv_columns: ["s", "p", "o"],
      }),
    ).toMatchObject({
      problem_count: 0,
      row_count: 1,
    });
  });
});
