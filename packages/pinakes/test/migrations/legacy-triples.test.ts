/** Tables of triples become collections, and back: inventory, copy, proof, switch, cleanup and rollback. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeFile, mkdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { legacyFile, triples, World, type Process } from "./support/world.ts";

let world: World;
let process: Process;
let files = 0;
beforeAll(async () => {
  world = await World.open();
  process = await world.process();
});
afterAll(async () => {
  await process.close();
  await world[Symbol.asyncDispose]();
});

function file(tables: Parameters<typeof legacyFile>[1], columns?: string): string {
  const path = join(world.folder, `legacy-${(files += 1)}.db`);
  legacyFile(path, tables, columns);
  return path;
}
const tablesOf = (path: string) => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Object.fromEntries(
      db
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .all()
        .map(({ name }) => [
          name as string,
          db
            .prepare(`SELECT s, p, o FROM "${String(name)}" ORDER BY s, p, o`)
            .all()
            .map(({ s, p, o }) => [s, p, o]),
        ]),
    );
  } finally {
    db.close();
  }
};
const source = (sqlite: string, more: object = {}) => ({ kind: "triples", sqlite, separator: "__", objects: "absolute", ...more });
const all = async (user: string, collection: string) => (await process.knowledge.graph.matchTriples(asUser(user), "me", collection, { limit: 10_000 })).items;
const asUser = (userId: string) => makeUser(userId);
import { makeCaller } from "../../src/domain/caller.ts";
const makeUser = (userId: string) => makeCaller({ tenant: "acme", userId });

describe("inventory", () => {
  it("R-TG-91 lists the collections of the legacy layout with counts and hashes, and writes nothing", async () => {
    const path = file({ ann__papers: [...triples(50), ...triples(2)], bob__notes: triples(7) });
    const before = await process.knowledge.countCollections(world.admin);
    const plan = await process.plan(source(path));
    expect(plan).toMatchObject({ state: "planned", unit_count: 2, row_count: 59, problem_count: 0 });
    const units = await process.units(plan.migration_id);
    expect(units.map(({ name, target, rows, count, status }) => ({ name, target, rows, count, status }))).toEqual([
      { name: "ann__papers", target: { user: "ann", collection: "papers" }, rows: 52, count: 50, status: "planned" },
      { name: "bob__notes", target: { user: "bob", collection: "notes" }, rows: 7, count: 7, status: "planned" },
    ]);
    expect(units[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await process.knowledge.countCollections(world.admin)).toBe(before);
  });

  it("tells tables and rows that are wrong, and refuses to copy", async () => {
    const path = file({
      ann__ok: triples(3),
      ann__bad: [
        ["http://x/s", "http://x/p", "o"],
        ["no iri", "http://x/p", "o"],
        ["http://x/s", "http://x/p", null],
      ],
    });
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE ann__other (s TEXT, p TEXT, object TEXT); CREATE TABLE ann__more (s TEXT, p TEXT, o TEXT, weight REAL)");
    db.close();
    const plan = await process.plan(source(path));
    expect(plan.problems.map(({ where, reason }) => `${where}: ${reason}`)).toEqual([
      expect.stringMatching(/^ann__bad row 3: o: is empty/),
      expect.stringMatching(/^ann__bad row 2: s: "no iri" is no absolute IRI/),
      expect.stringMatching(/^ann__more: has the columns \["weight"\], which would be lost/),
      expect.stringMatching(/^ann__other: has no column "o"; it has \["s","p","object"\]/),
    ]);
    await expect(process.migrations.copy(world.admin, plan.migration_id)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("4 problems"),
    });
    // Mended by the mapping, and planned again as a new migration.
    const mended = await process.plan(source(path, { ignore_columns: ["weight"], tables: { ann__other: { skip: true }, ann__bad: { skip: true } } }));
    expect(mended).toMatchObject({ problem_count: 0, unit_count: 2 });
  });

  it("refuses sources that are unknown, unreadable, no database, or not allowed here", async () => {
    const make = (given: unknown, who = process) => who.migrations.create(world.admin, { source: given });
    await expect(make({ kind: "magic" })).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("source.kind: must be one of triples") });
    await expect(make({ kind: "triples", sqlite: "x" })).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("objects") });
    await expect(make({ kind: "triples", objects: "literal" })).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("one of") });
    await expect(make(source(join(world.folder, "nowhere.db")))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await writeFile(join(world.folder, "text.db"), "this is no database, and long enough to be read as one that is broken".repeat(30));
    await expect(make(source(join(world.folder, "text.db")))).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("no SQLite database"),
    });
    const path = file({ ann__x: triples(1) });
    const closed = await world.process([join(world.folder, "inside")]);
    await expect(make(source(path), closed)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(make({ kind: "triples", postgres: "postgres://elsewhere/db", objects: "literal" }, closed)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(make({ kind: "triples", postgres: "postgres://u:secret@h/db", objects: "literal" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("PGPASSWORD"),
    });
    await closed.close();
    await expect(process.migrations.create(makeUser("ann"), { source: source(path) })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("two tables for one collection, and a collection that holds something else, are problems", async () => {
    const plan = await process.plan(
      source(file({ a1: triples(1), b1: triples(1) }), { repository: "kb", tables: { a1: { collection: "same" }, b1: { collection: "same" } } }),
    );
    expect(plan.problems[0]?.reason).toContain('as "a1" does');
    await process.knowledge.createCollection(world.admin, "kb", { collection_id: "taken" });
    await process.knowledge.graph.loadTriples(world.admin, "kb", "taken", { format: "ntriples", body: body("<http://x/a> <http://x/b> <http://x/c> .") });
    const taken = await process.plan(source(file({ taken: triples(2) }), { repository: "kb" }));
    expect(taken.problems[0]?.reason).toContain("holds 1 rows of other content");
    const nowhere = await process.plan(source(file({ x: triples(2) }), { repository: "nowhere" }));
    expect(nowhere.problems[0]?.reason).toContain("does not exist");
    const nobody = await process.plan(source(file({ x: triples(2) })));
    expect(nobody.problems[0]?.reason).toContain("whose it is");
  });
});

async function* body(text: string) {
  yield new TextEncoder().encode(text);
}

describe("copy, proof and switch", () => {
  it("R-TG-92 R-TG-94 registers with defaults and copies so that counts and hashes are equal", async () => {
    const path = file({ cat__papers: triples(4_500), cat__small: triples(3) });
    const { migration_id } = await process.plan(source(path));
    const ready = await process.run(migration_id, "copy", "validate");
    expect(ready).toMatchObject({ state: "ready", error: null });
    for (const unit of await process.units(migration_id)) {
      expect(unit).toMatchObject({ status: "verified", made: true, held_count: unit.count, held_hash: unit.hash });
    }
    expect(await process.run(migration_id, "cutover")).toMatchObject({ state: "switched", retain_until: "2030-01-31T00:00:00.000Z" });
    const collection = await process.knowledge.collection(makeUser("cat"), "me", "papers");
    expect(collection).toMatchObject({ name: "papers", description: "", metadata: { tags: [] }, created_by: "cat", private: true });
    expect(await all("cat", "papers")).toHaveLength(4_500);
    expect(await all("cat", "small")).toHaveLength(3);
  });

  it("R-TG-93 created_at is the source's where it has one, and flagged as estimated where not", async () => {
    const path = file({ dan__dated: triples(2).map((row, i) => [...row, `2019-0${i + 1}-01T00:00:00Z`]) }, "s TEXT, p TEXT, o TEXT, created_at TEXT");
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE dan__undated (s TEXT, p TEXT, o TEXT); INSERT INTO dan__undated VALUES ('http://x/1', 'http://x/2', 'three')");
    db.close();
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    const dated = await process.knowledge.collection(makeUser("dan"), "me", "dated");
    expect(dated.created_at).toBe("2019-01-01T00:00:00.000Z");
    expect(dated).not.toHaveProperty("created_at_estimated");
    expect(await process.knowledge.collection(makeUser("dan"), "me", "undated")).toMatchObject({
      created_at: new Date(world.now).toISOString(),
      created_at_estimated: true,
    });
  });

  it('terms are typed by the mapping: the literal "http://x" stays one where it says so', async () => {
    const rows = [
      ["http://x/s", "http://x/links", "http://x/o"],
      ["http://x/s", "http://x/says", "http://x/o"],
      ["_:b1", "http://x/links", "mailto:a@b"],
    ] as const;
    const path = file({ eve__a: rows });
    const { migration_id } = await process.plan(source(path, { literal_predicates: ["http://x/says"] }));
    await process.run(migration_id, "copy", "validate", "cutover");
    const found = (await all("eve", "a")).map(({ s, p, o }) => [s.type, p.value, o.type, o.value]);
    expect(found.toSorted()).toEqual([
      ["blank", "http://x/links", "literal", "mailto:a@b"],
      ["iri", "http://x/links", "iri", "http://x/o"],
      ["iri", "http://x/says", "literal", "http://x/o"],
    ]);
    // Words as subjects, below a base; and a base under which two rows could not be told apart is refused.
    const words = file({ eve__words: [["Ann Lee", "knows", "Bob"]] });
    const plan = await process.plan(source(words, { objects: "iri", iri_base: "urn:old:" }));
    await process.run(plan.migration_id, "copy", "validate", "cutover");
    expect((await all("eve", "words")).map(({ s, p, o }) => [s.value, p.value, o.value])).toEqual([["urn:old:Ann%20Lee", "urn:old:knows", "urn:old:Bob"]]);
    const twice = await process.plan(source(file({ eve__twice: [["urn:old:x", "http://x/p", "o"]] }), { iri_base: "urn:old:" }));
    expect(twice.problems[0]?.reason).toContain("would come back as");
  });

  it("R-TG-95 a store whose patterns answer wrongly, or by scanning, does not pass the verification", async () => {
    const { checkPatterns } = await import("../../src/migrations/triples/check-patterns.ts");
    const held = { scope: world.admin.scope, place: { repository_id: "kb", collection_id: "p", incarnation: "space-p" }, signal: new AbortController().signal };
    const quads = triples(200).map(([s, p, o]) => ({ s: `<${s}>`, p: `<${p}>`, o: `"${o}"`, g: "" }));
    await world.triples.open(held.scope, "space-p");
    await world.triples.write(held.scope, "space-p", { insert: quads });
    const all200 = async function* () {
      yield* quads;
    };
    expect(await checkPatterns(world.triples, held, all200)).toEqual([]);
    const blind = new Proxy(world.triples, {
      get: (target, name) =>
        name === "match"
          ? async (...given: Parameters<typeof target.match>) => {
              const page = await target.match(...given);
              return given[2].p !== undefined && given[2].o !== undefined && given[2].s === undefined ? { ...page, quads: [], examined: 200 } : page;
            }
          : (Reflect.get(target, name, target) as unknown),
    });
    const wrong = await checkPatterns(blind, held, all200);
    expect(wrong.join("\n")).toMatch(/get_po .* finds 0 triples, the source has 1/);
    expect(wrong.join("\n")).toMatch(/get_po .* examines 200 rows more/);
  });

  it("R-TG-94 a row that was lost or added is named, and nothing is switched", async () => {
    const path = file({ fay__a: triples(20) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy");
    const [unit] = await process.units(migration_id);
    const space = unit?.incarnation as string;
    const gone = { s: "<http://x/s0>", p: "<http://x/p0>", o: "<http://x/o0>", g: "" };
    await world.triples.write(world.admin.scope, space, { remove: [gone], insert: [{ ...gone, o: '"more"' }] });
    const failed = await process.run(migration_id, "validate");
    expect(failed.state).toBe("copied");
    expect(failed.error).toContain("fay__a: 20 in the source, 20 here");
    expect(failed.error).toContain('missing here: ["<http://x/s0>","<http://x/p0>","<http://x/o0>",""]');
    expect(failed.error).toContain('only here: ["<http://x/s0>","<http://x/p0>","\\"more\\"",""]');
    await expect(process.migrations.cutover(world.admin, migration_id)).rejects.toMatchObject({ code: "INVALID" });
    // Put right, it is found to be so.
    await world.triples.write(world.admin.scope, space, { insert: [gone], remove: [{ ...gone, o: '"more"' }] });
    expect(await process.run(migration_id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
  });

  it("a source that changed after the proof is not switched to", async () => {
    const path = file({ gus__a: triples(5) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate");
    const db = new DatabaseSync(path);
    db.exec("INSERT INTO gus__a VALUES ('http://x/new', 'http://x/p', 'late')");
    db.close();
    expect(await process.run(migration_id, "cutover")).toMatchObject({ state: "copied", switched_at: null });
    expect((await process.knowledge.collection(makeUser("gus"), "me", "a")).held_by).toBe(migration_id);
  });

  it("R-TG-98 while it is copied writes get 503 with Retry-After, and reads go on", async () => {
    const path = file({ hal__a: triples(5) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy");
    const hal = makeUser("hal");
    const graph = process.knowledge.graph;
    const load = () => graph.loadTriples(hal, "me", "a", { format: "ntriples", body: body("<http://x/a> <http://x/b> <http://x/c> .") });
    await expect(load()).rejects.toMatchObject({ code: "UNAVAILABLE", status: 503, retryable: true, retryAfterMs: 30_000 });
    await expect(process.knowledge.rows.upsert(hal, "me", "a", { items: [{ id: "r", vector: [1, 2] }] })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(process.knowledge.upload(hal, "me", "a", { name: "a.txt", body: "text" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(process.knowledge.updateCollection(hal, "me", "a", { description: "x" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(process.knowledge.deleteCollection(hal, "me", "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await all("hal", "a")).toHaveLength(5);
    expect((await graph.matchTriples(hal, "me", "a", { p: "<http://x/p1>" })).items).toHaveLength(1);
    await process.run(migration_id, "validate", "cutover");
    expect(await load()).toMatchObject({ inserted: 1 });
  });
});

describe("cleanup and the way back", () => {
  it("R-TG-96 old tables go only after a verified success and with an explicit flag", async () => {
    const path = file({ ida__a: triples(10), ida__b: triples(4) });
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await expect(process.migrations.finish(world.admin, migration_id, { remove_old: true, now: true })).rejects.toMatchObject({ code: "INVALID" });
    await process.run(migration_id, "copy", "validate", "cutover");
    await expect(process.migrations.finish(world.admin, migration_id, { remove_old: true })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("kept until"),
    });
    expect(tablesOf(path)).toEqual(before);
    // Changed since: not what was verified.
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

  it("R-TG-97 rollback recreates removed tables with an equal hash, indexes and later writes included", async () => {
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
    await process.knowledge.graph.loadTriples(makeUser("kim"), "me", "a", { format: "ntriples", body: body('<http://x/zz> <http://x/b> "since then" .') });
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
    // The same table again, measured by a new inventory: the hash of the first one. The collection is gone, to the trash.
    const plan = await process.plan(source(path));
    expect((await process.units(plan.migration_id))[0]).toMatchObject({ hash, count, status: "planned" });
    await expect(process.knowledge.collection(makeUser("kim"), "me", "a")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("R-TG-97 a rollback before the switch leaves the source as it was; one that would lose something is refused", async () => {
    const path = file({ leo__a: triples(9) });
    const before = tablesOf(path);
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "rollback");
    expect(tablesOf(path)).toEqual(before);
    await expect(process.knowledge.collection(makeUser("leo"), "me", "a")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const second = (await process.plan(source(path))).migration_id;
    await process.run(second, "copy", "validate", "cutover");
    await process.finish(second, { remove_old: true, now: true });
    await process.knowledge.graph.loadTriples(makeUser("leo"), "me", "a", { format: "ntriples", body: body('<http://x/a> <http://x/b> "mot"@fr .') });
    await expect(process.run(second, "rollback")).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("language") });
    expect(tablesOf(path)).toEqual({});
    await process.run(second).catch(() => {});
    // The hold stays until the rollback is through: nothing is lost between two tries.
    expect((await process.knowledge.collection(makeUser("leo"), "me", "a")).held_by).toBe(second);
    await world.triples.write(world.admin.scope, (await process.units(second))[0]?.incarnation as string, {
      remove: [{ s: "<http://x/a>", p: "<http://x/b>", o: '"mot"@fr', g: "" }],
    });
    expect(await process.drive(second)).toMatchObject({ state: "rolled_back" });
    expect(tablesOf(path)).toEqual(before);
  });

  it("R-TG-97 documents that came since are not thrown away unless it is said", async () => {
    const path = file({ mia__a: triples(2) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    await process.knowledge.upload(makeUser("mia"), "me", "a", { name: "a.txt", body: "text" });
    await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("1 documents") });
  });
});

describe("again", () => {
  it("R-TG-99 the same source again is found to be migrated, and nothing is done", async () => {
    const path = file({ ned__a: triples(100) });
    const first = (await process.plan(source(path))).migration_id;
    await process.run(first, "copy", "validate", "cutover");
    for (const step of ["copy", "validate", "cutover"] as const) expect(await process.run(first, step)).toMatchObject({ state: "switched" });
    const second = (await process.plan(source(path))).migration_id;
    expect((await process.units(second))[0]).toMatchObject({ status: "already" });
    const before = await process.knowledge.collection(makeUser("ned"), "me", "a");
    expect(await process.run(second, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    // Not even the rollback of the second touches what the first one made.
    await process.run(second, "rollback");
    expect(await process.knowledge.collection(makeUser("ned"), "me", "a")).toEqual(before);
  });

  it("reads what cqlsh exports, with the number of a row that is wrong", async () => {
    const folder = join(world.folder, "csv");
    await mkdir(folder);
    await writeFile(
      join(folder, "ola__a.csv"),
      's,p,o\nhttp://x/s,http://x/p,"say \\"hi\\", twice"\nhttp://x/s,http://x/p,"two\nlines"\nhttp://x/s,http://x/p,"two\nlines"\n',
    );
    await writeFile(join(folder, "ola__bad.csv"), "s,p,o\nhttp://x/s,http://x/p\n");
    const bad = await process.plan({ kind: "triples", csv: folder, separator: "__", objects: "literal" });
    expect(bad.problems).toEqual([{ where: "ola__bad row 2", reason: "has 2 columns; the table has 3 (s, p, o)." }]);
    const plan = await process.plan({ kind: "triples", csv: folder, separator: "__", objects: "literal", tables: { ola__bad: { skip: true } } });
    await process.run(plan.migration_id, "copy", "validate", "cutover");
    expect((await all("ola", "a")).map(({ o }) => o.value).toSorted()).toEqual(['say "hi", twice', "two\nlines"]);
    expect(await process.finish(plan.migration_id, { remove_old: true, now: true })).toMatchObject({ state: "finished" });
    expect(
      (await process.plan({ kind: "triples", csv: folder, separator: "__", objects: "literal", tables: { ola__bad: { skip: true } } })).problem_count,
    ).toBe(0);
    const headless = join(world.folder, "headless");
    await mkdir(headless);
    await writeFile(join(headless, "t.csv"), "http://x/s,http://x/p,o\n");
    const without = await process.plan({ kind: "triples", csv: headless, repository: "kb", objects: "literal" });
    expect(without.problems[0]?.reason).toContain('has no column "s", "p"');
    expect(await process.plan({ kind: "triples", csv: headless, repository: "kb", objects: "literal", csv_columns: ["s", "p", "o"] })).toMatchObject({
      problem_count: 0,
      row_count: 1,
    });
  });
});
