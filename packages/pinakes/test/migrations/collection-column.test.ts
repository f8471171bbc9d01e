/** A table of triples with a column that names the collection of each row: one collection per value, never with a row of another one. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { migrationLimits } from "../../src/migrations/limits.ts";
import type { FoundUnit } from "../../src/migrations/source.ts";
import { TriplesSpec } from "../../src/migrations/triples/spec.ts";
import { SqliteTables } from "../../src/migrations/triples/sqlite-tables.ts";
import type { LegacyRow, RowKey } from "../../src/migrations/triples/tables.ts";
import { TriplesSource } from "../../src/migrations/triples/triples-source.ts";
import { makeUser, tablesOf } from "./support/legacy-files.ts";
import { legacyFile, triples, World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

let files = 0;
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const columns = "collection TEXT, s TEXT, p TEXT, o TEXT";
type Rows = readonly (readonly (string | null)[])[];
const rowsOf = (collection: string | null, rows: Rows): Rows => rows.map((row) => [collection, ...row]);
function file(tables: Readonly<Record<string, Rows>>, of = columns): string {
  const path = join(world.folder, `shared-${(files += 1)}.db`);
  legacyFile(path, tables, of);
  return path;
}
const source = (sqlite: string, more: object = {}) => ({
  kind: "triples",
  sqlite,
  user: "ann",
  objects: "absolute",
  ...more,
});

/** As sorted rows of the table. */
async function held(user: string, collection: string, repository = "me"): Promise<readonly string[]> {
  const { items } = await process.knowledge.graph.matchTriples(makeUser(user), repository, collection, {
    limit: 10_000,
  });
  return items.map(({ s, p, o }) => JSON.stringify([s.value, p.value, o.value])).toSorted();
}
const texts = (rows: Rows) => [...new Set(rows.map((row) => JSON.stringify(row)))].toSorted();
const problemsOf = (plan: { readonly problems: readonly { readonly where: string; readonly reason: string }[] }) =>
  plan.problems.map(({ where, reason }) => `${where}: ${reason}`);

it("R-TG-91 R-TG-94 each value of the column becomes a collection with exactly its triples", async () => {
  // Values that differ in case, triples shared by two collections, duplicate rows, and more rows than one copy step.
  const [papers, Papers, notes] = [triples(2_500), triples(40, "b"), [...triples(30), ...triples(30)]];
  const path = file({
    triples: [...rowsOf("papers", papers), ...rowsOf("Papers", Papers), ...rowsOf("bob__notes", notes)],
  });
  const before = tablesOf(path);
  const { migration_id, ...plan } = await process.plan(source(path, { separator: "__" }));
  expect(plan).toMatchObject({ problem_count: 0, unit_count: 3, row_count: 2_600 });
  expect(
    (await process.units(migration_id)).map(({ name, target, rows, count }) => ({ name, target, rows, count })),
  ).toEqual([
    { name: "triples/Papers", target: { user: "ann", collection: "Papers" }, rows: 40, count: 40 },
    { name: "triples/bob__notes", target: { user: "bob", collection: "notes" }, rows: 60, count: 30 },
    { name: "triples/papers", target: { user: "ann", collection: "papers" }, rows: 2_500, count: 2_500 },
  ]);
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
    state: "switched",
    error: null,
  });
  expect(await held("ann", "papers")).toEqual(texts(papers));
  expect(await held("ann", "Papers")).toEqual(texts(Papers));
  expect(await held("bob", "notes")).toEqual(texts(notes));
  // Others may use the table for other collections: it stays, also when old forms are removed or restored.
  expect(await process.finish(migration_id, { remove_old: true, now: true })).toMatchObject({ state: "finished" });
  expect((await process.units(migration_id)).map(({ old }) => old)).toEqual(["kept", "kept", "kept"]);
  expect(tablesOf(path)).toEqual(before);
  expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  expect(tablesOf(path)).toEqual(before);
});

it("R-TG-94 a row added to one collection after the copy differs only there", async () => {
  const path = file({ triples: [...rowsOf("c1", triples(9)), ...rowsOf("c2", triples(9))] });
  const { migration_id } = await process.plan(source(path));
  await process.run(migration_id, "copy");
  const db = new DatabaseSync(path);
  db.exec("INSERT INTO triples VALUES ('c2', 'http://x/late', 'http://x/p', 'late')");
  db.close();
  expect(await process.run(migration_id, "validate")).toMatchObject({
    state: "copied",
    error: expect.stringMatching(/^1 of 2 are not equal: triples\/c2: 10/),
  });
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  expect([(await held("ann", "c1")).length, (await held("ann", "c2")).length]).toEqual([9, 10]);
});

it("a copy resumes after a key within one collection", async () => {
  const path = file({ triples: [...rowsOf("c1", triples(30)), ...rowsOf("c2", triples(9, "b"))] });
  await using tables = new SqliteTables(path);
  const names = { s: "s", p: "p", o: "o", created_at: "created_at" };
  const part = { table: "triples", only: { column: "collection", value: "c1" } };
  const all = await Array.fromAsync(tables.rows(part, names));
  expect(all).toHaveLength(30);
  const { s, p, o } = all[14] as LegacyRow;
  expect(await Array.fromAsync(tables.rows(part, names, [s, p, o] as unknown as RowKey))).toEqual(all.slice(15));
});

it("R-TG-91 unitsMax: a table may name this many collections, and not one more", async () => {
  const { unitsMax } = migrationLimits;
  const path = file({
    triples: Array.from({ length: unitsMax }, (_, i) => [`c${i}`, "http://x/s", "http://x/p", "o"]),
  });
  const db = new DatabaseSync(path);
  db.exec("CREATE INDEX by_collection ON triples (collection)");
  const first = async () => {
    await using found = new TriplesSource(TriplesSpec.parse(source(path)), new SqliteTables(path), world.triples);
    return (await found.units().next()).value as FoundUnit;
  };
  expect(await first()).toMatchObject({ name: "triples/c0", problems: [] });
  db.exec("INSERT INTO triples VALUES ('more', 'http://x/s', 'http://x/p', 'o')");
  db.close();
  await expect(first()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
});

it("the mapping names, skips and assigns single collections, and rows without one are a problem", async () => {
  const path = file({
    cat__t: [
      ...rowsOf("a b", triples(3)),
      ...rowsOf(null, triples(4, "n")),
      ...rowsOf("", triples(2, "e")),
      ...rowsOf("x", triples(1)),
    ],
  });
  legacyFile(path, { cat__plain: triples(5) });
  const bad = await process.plan(source(path, { separator: "__", user: undefined }));
  expect(bad.problems.map(({ where }) => where)).toEqual(["cat__t/", "cat__t/a b"]);
  const tables = {
    "cat__t/": { collection: "rest" },
    "cat__t/a b": { collection: "ab", repository: "kb" },
    "cat__t/x": { skip: true },
  };
  const { migration_id, problems } = await process.plan(source(path, { separator: "__", user: undefined, tables }));
  expect(problems).toEqual([]);
  await process.run(migration_id, "copy", "validate", "cutover");
  expect(await held("cat", "rest")).toEqual(texts([...triples(4, "n"), ...triples(2, "e")]));
  expect(await held("cat", "plain")).toEqual(texts(triples(5)));
  expect(
    (await process.units(migration_id)).map(({ name, target }) => [name, target.repository ?? target.user]),
  ).toEqual([
    ["cat__plain", "cat"],
    ["cat__t/", "cat"],
    ["cat__t/a b", "kb"],
  ]);
  // A table that is one collection is removed as before, one that contains several is not.
  await process.finish(migration_id, { remove_old: true, now: true });
  expect(Object.keys(tablesOf(path))).toEqual(["cat__t"]);
  expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  expect(Object.keys(tablesOf(path))).toEqual(["cat__plain", "cat__t"]);
});

it("the column may have another name, or be ignored as before; other columns and values that are not text are problems", async () => {
  const path = file({ t: rowsOf("d1", triples(3)) }, "graph TEXT, s TEXT, p TEXT, o TEXT");
  const named = await process.plan(source(path, { columns: { collection: "graph" } }));
  expect((await process.units(named.migration_id)).map(({ name }) => name)).toEqual(["t/d1"]);
  expect(problemsOf(await process.plan(source(path)))).toEqual([
    expect.stringMatching(/^t: has the columns \["graph"\], which would be lost/),
  ]);
  const ignored = await process.plan(source(file({ t: rowsOf("d1", triples(3)) }), { ignore_columns: ["collection"] }));
  expect((await process.units(ignored.migration_id)).map(({ name }) => name)).toEqual(["t"]);
  expect(
    problemsOf(
      await process.plan(source(path, { columns: { collection: "graph" }, tables: { t: { collection: "all" } } })),
    ),
  ).toEqual([expect.stringMatching(/^t: contains several collections/)]);
  const db = new DatabaseSync(path);
  db.exec(
    "INSERT INTO t VALUES (x'ff', 'http://x/s', 'http://x/p', 'o'); CREATE TABLE u (collection TEXT, s TEXT, p TEXT, o TEXT, weight REAL)",
  );
  db.close();
  expect(problemsOf(await process.plan(source(path, { columns: { collection: "graph" } })))).toEqual([
    expect.stringMatching(/^t: has 4 rows, but 3 by the values of "graph"/),
    expect.stringMatching(/^u: has the columns \["collection","weight"\], which would be lost/),
  ]);
});

it("reads the column from cqlsh exports, and reports an invalid row once", async () => {
  const csv = join(world.folder, "shared-csv");
  await mkdir(csv);
  const write = async (more = "") =>
    writeFile(
      join(csv, "t.csv"),
      `collection,s,p,o\ne1,http://x/s,http://x/p,one\ne2,http://x/s,http://x/p,two\ne2,http://x/s,http://x/p,one\n${more}`,
    );
  const from = { kind: "triples", csv, user: "eve", objects: "literal" };
  await write("e2,http://x/s\n");
  expect((await process.plan(from)).problems).toEqual([
    { where: "t row 5", reason: "has 2 columns; the table has 4 (collection, s, p, o)." },
  ]);
  await write();
  const { migration_id } = await process.plan(from);
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  expect(await held("eve", "e1")).toEqual(texts([["http://x/s", "http://x/p", "one"]]));
  expect(await held("eve", "e2")).toEqual(texts(["one", "two"].map((o) => ["http://x/s", "http://x/p", o])));
});
