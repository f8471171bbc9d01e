/** Tables of triples become collections: inventory, copy, verification and switch. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { body, fileIn, makeUser, source, triplesOf } from "./support/legacy-files.ts";
import { triples, World, type legacyFile } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
const file = (tables: Parameters<typeof legacyFile>[1], columns?: string) => fileIn(world, tables, columns);

describe("inventory", () => {
  it("R-TG-91 lists the collections of the legacy layout with counts and hashes, and writes nothing", async () => {
    const path = file({ ann__papers: [...triples(50), ...triples(2)], bob__notes: triples(7) });
    const before = await process.knowledge.collections.count(world.admin);
    const plan = await process.plan(source(path));
    expect(plan).toMatchObject({ state: "planned", unit_count: 2, row_count: 59, problem_count: 0 });
    const units = await process.units(plan.migration_id);
    expect(units.map(({ name, target, rows, count, status }) => ({ name, target, rows, count, status }))).toEqual([
      { name: "ann__papers", target: { user: "ann", collection: "papers" }, rows: 52, count: 50, status: "planned" },
      { name: "bob__notes", target: { user: "bob", collection: "notes" }, rows: 7, count: 7, status: "planned" },
    ]);
    expect(units[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await process.knowledge.collections.count(world.admin)).toBe(before);
  });

  it("reports invalid tables and rows, and refuses to copy", async () => {
    const path = file({
      ann__ok: triples(3),
      ann__bad: [
        ["http://x/s", "http://x/p", "o"],
        ["no iri", "http://x/p", "o"],
        ["http://x/s", "http://x/p", null],
      ],
    });
    const db = new DatabaseSync(path);
    db.exec(
      "CREATE TABLE ann__other (s TEXT, p TEXT, object TEXT); CREATE TABLE ann__more (s TEXT, p TEXT, o TEXT, weight REAL)",
    );
    db.close();
    const plan = await process.plan(source(path));
    expect(plan.problems.map(({ where, reason }) => `${where}: ${reason}`)).toEqual([
      expect.stringMatching(/^ann__bad row 3: o: is empty/),
      expect.stringMatching(/^ann__bad row 2: s: "no iri" is neither an absolute IRI/),
      expect.stringMatching(/^ann__more: has the columns \["weight"\], which would be lost/),
      expect.stringMatching(/^ann__other: has no column "o"; it has \["s","p","object"\]/),
    ]);
    await expect(process.migrations.copy(world.admin, plan.migration_id)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("4 problems"),
    });
    // Fixed by the mapping, and planned again as a new migration.
    const mended = await process.plan(
      source(path, { ignore_columns: ["weight"], tables: { ann__other: { skip: true }, ann__bad: { skip: true } } }),
    );
    expect(mended).toMatchObject({ problem_count: 0, unit_count: 2 });
  });

  it("refuses sources that are unknown, unreadable, no database, or not allowed here", async () => {
    const make = (given: unknown, who = process) => who.migrations.create(world.admin, { source: given });
    await expect(make({ kind: "magic" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("source.kind: must be one of triples"),
    });
    await expect(make({ kind: "triples", sqlite: "x" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("objects"),
    });
    await expect(make({ kind: "triples", objects: "literal" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("one of"),
    });
    await expect(make(source(join(world.folder, "nowhere.db")))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await writeFile(
      join(world.folder, "text.db"),
      "this is no database, and long enough to be read as one that is broken".repeat(30),
    );
    await expect(make(source(join(world.folder, "text.db")))).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("not a readable SQLite database"),
    });
    const path = file({ ann__x: triples(1) });
    const closed = await world.process([join(world.folder, "inside")]);
    await expect(make(source(path), closed)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(
      make({ kind: "triples", postgres: "postgres://elsewhere/db", objects: "literal" }, closed),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(
      make({ kind: "triples", postgres: "postgres://u:secret@h/db", objects: "literal" }),
    ).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("PGPASSWORD"),
    });
    await closed.close();
    await expect(process.migrations.create(makeUser("ann"), { source: source(path) })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });

  it("two tables for one collection, and a collection with other contents, are problems", async () => {
    const plan = await process.plan(
      source(file({ a1: triples(1), b1: triples(1) }), {
        repository: "kb",
        tables: { a1: { collection: "same" }, b1: { collection: "same" } },
      }),
    );
    expect(plan.problems[0]?.reason).toContain('like "a1"');
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "taken" });
    await process.knowledge.graph.loadTriples(world.admin, "kb", "taken", {
      format: "ntriples",
      body: body("<http://x/a> <http://x/b> <http://x/c> ."),
    });
    const taken = await process.plan(source(file({ taken: triples(2) }), { repository: "kb" }));
    expect(taken.problems[0]?.reason).toContain("contains 1 other rows");
    const nowhere = await process.plan(source(file({ x: triples(2) }), { repository: "nowhere" }));
    expect(nowhere.problems[0]?.reason).toContain("does not exist");
    const nobody = await process.plan(source(file({ x: triples(2) })));
    expect(nobody.problems[0]?.reason).toContain("has no owner");
  });
});

describe("copy, verification and switch", () => {
  it("R-TG-92 R-TG-94 registers with defaults and copies so that counts and hashes are equal", async () => {
    const path = file({ cat__papers: triples(4_500), cat__small: triples(3) });
    const { migration_id } = await process.plan(source(path));
    const ready = await process.run(migration_id, "copy", "validate");
    expect(ready).toMatchObject({ state: "ready", error: null });
    for (const unit of await process.units(migration_id)) {
      expect(unit).toMatchObject({ status: "verified", made: true, held_count: unit.count, held_hash: unit.hash });
    }
    expect(await process.run(migration_id, "cutover")).toMatchObject({
      state: "switched",
      retain_until: "2030-01-31T00:00:00.000Z",
    });
    const collection = await process.knowledge.collections.get(makeUser("cat"), "me", "papers");
    expect(collection).toMatchObject({
      name: "papers",
      description: "",
      metadata: { tags: [] },
      created_by: "cat",
      private: true,
    });
    expect(await triplesOf(process, "cat", "papers")).toHaveLength(4_500);
    expect(await triplesOf(process, "cat", "small")).toHaveLength(3);
  });

  it("R-TG-93 created_at is the source's if it has one, and otherwise flagged as estimated", async () => {
    const path = file(
      { dan__dated: triples(2).map((row, i) => [...row, `2019-0${i + 1}-01T00:00:00Z`]) },
      "s TEXT, p TEXT, o TEXT, created_at TEXT",
    );
    const db = new DatabaseSync(path);
    db.exec(
      "CREATE TABLE dan__undated (s TEXT, p TEXT, o TEXT); INSERT INTO dan__undated VALUES ('http://x/1', 'http://x/2', 'three')",
    );
    db.close();
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover");
    const dated = await process.knowledge.collections.get(makeUser("dan"), "me", "dated");
    expect(dated.created_at).toBe("2019-01-01T00:00:00.000Z");
    expect(dated).not.toHaveProperty("created_at_estimated");
    expect(await process.knowledge.collections.get(makeUser("dan"), "me", "undated")).toMatchObject({
      created_at: new Date(world.now).toISOString(),
      created_at_estimated: true,
    });
  });

  it('terms are typed by the mapping: the literal "http://x" stays one if it says so', async () => {
    const rows = [
      ["http://x/s", "http://x/links", "http://x/o"],
      ["http://x/s", "http://x/says", "http://x/o"],
      ["_:b1", "http://x/links", "mailto:a@b"],
    ] as const;
    const path = file({ eve__a: rows });
    const { migration_id } = await process.plan(source(path, { literal_predicates: ["http://x/says"] }));
    await process.run(migration_id, "copy", "validate", "cutover");
    const found = (await triplesOf(process, "eve", "a")).map(({ s, p, o }) => [s.type, p.value, o.type, o.value]);
    expect(found.toSorted()).toEqual([
      ["blank", "http://x/links", "literal", "mailto:a@b"],
      ["iri", "http://x/links", "iri", "http://x/o"],
      ["iri", "http://x/says", "literal", "http://x/o"],
    ]);
    // Words as subjects, with a base; and a base that makes two rows indistinguishable is refused.
    const words = file({ eve__words: [["Ann Lee", "knows", "Bob"]] });
    const plan = await process.plan(source(words, { objects: "iri", iri_base: "urn:old:" }));
    await process.run(plan.migration_id, "copy", "validate", "cutover");
    expect((await triplesOf(process, "eve", "words")).map(({ s, p, o }) => [s.value, p.value, o.value])).toEqual([
      ["urn:old:Ann%20Lee", "urn:old:knows", "urn:old:Bob"],
    ]);
    const twice = await process.plan(
      source(file({ eve__twice: [["urn:old:x", "http://x/p", "o"]] }), { iri_base: "urn:old:" }),
    );
    expect(twice.problems[0]?.reason).toContain("would be restored as");
  });

  it("R-TG-95 a store whose patterns answer wrongly, or by scanning, does not pass the verification", async () => {
    const { checkPatterns } = await import("../../src/migrations/triples/check-patterns.ts");
    const held = {
      scope: world.admin.scope,
      destination: { repository_id: "kb", collection_id: "p", incarnation: "space-p" },
      signal: new AbortController().signal,
    };
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
              return given[2].p !== undefined && given[2].o !== undefined && given[2].s === undefined
                ? { ...page, quads: [], examined: 200 }
                : page;
            }
          : (Reflect.get(target, name, target) as unknown),
    });
    const wrong = await checkPatterns(blind, held, all200);
    expect(wrong.join("\n")).toMatch(/get_po .* finds 0 triples, the source has 1/);
    expect(wrong.join("\n")).toMatch(/get_po .* examines 200 rows more/);
  });

  it("R-TG-95 a verified table whose patterns answer wrongly at the switch is copied again", async () => {
    const { migration_id } = await process.plan(source(file({ eva__a: triples(20) })));
    await process.run(migration_id, "copy", "validate");
    const match = world.triples.match.bind(world.triples);
    const blind = vi.spyOn(world.triples, "match").mockImplementation(async (...given) => {
      const page = await match(...given);
      return given[2].p !== undefined && given[2].o !== undefined && given[2].s === undefined
        ? { ...page, quads: [] }
        : page;
    });
    expect(await process.run(migration_id, "cutover")).toMatchObject({
      state: "copied",
      error: expect.stringContaining("get_po") as string,
    });
    blind.mockRestore();
    expect((await process.units(migration_id))[0]).toMatchObject({
      status: "copied",
      differences: expect.stringContaining("get_po") as string,
    });
    await process.run(migration_id, "copy");
    expect((await process.units(migration_id))[0]).toMatchObject({ status: "copied", differences: null, copied: 20 });
    expect(await process.run(migration_id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
  });

  it("R-TG-94 a lost or added row is named, and nothing is switched", async () => {
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
    // Once fixed, it passes.
    await world.triples.write(world.admin.scope, space, { insert: [gone], remove: [{ ...gone, o: '"more"' }] });
    expect(await process.run(migration_id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
  });

  it("a source that changed after the verification is not switched to", async () => {
    const path = file({ gus__a: triples(5) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate");
    const db = new DatabaseSync(path);
    db.exec("INSERT INTO gus__a VALUES ('http://x/new', 'http://x/p', 'late')");
    db.close();
    expect(await process.run(migration_id, "cutover")).toMatchObject({ state: "copied", switched_at: null });
    expect((await process.knowledge.collections.get(makeUser("gus"), "me", "a")).held_by).toBe(migration_id);
  });

  it("R-TG-98 during the copy writes get 503 with Retry-After, and reads continue", async () => {
    const path = file({ hal__a: triples(5) });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy");
    const hal = makeUser("hal");
    const graph = process.knowledge.graph;
    const load = () =>
      graph.loadTriples(hal, "me", "a", { format: "ntriples", body: body("<http://x/a> <http://x/b> <http://x/c> .") });
    await expect(load()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      status: 503,
      retryable: true,
      retryAfterMs: 30_000,
    });
    await expect(
      process.knowledge.rows.upsert(hal, "me", "a", { items: [{ id: "r", vector: [1, 2] }] }),
    ).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(
      process.knowledge.documents.upload(hal, "me", "a", { name: "a.txt", body: "text" }),
    ).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await expect(process.knowledge.collections.update(hal, "me", "a", { description: "x" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await expect(process.knowledge.collections.delete(hal, "me", "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await triplesOf(process, "hal", "a")).toHaveLength(5);
    expect((await graph.matchTriples(hal, "me", "a", { p: "<http://x/p1>" })).items).toHaveLength(1);
    await process.run(migration_id, "validate", "cutover");
    expect(await load()).toMatchObject({ inserted: 1 });
  });
});
