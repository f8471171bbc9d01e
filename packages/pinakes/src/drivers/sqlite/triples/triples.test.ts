import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { defaultGraph, iri, literal, type Quad } from "../../../domain/rdf.ts";
import { tenantScope } from "../../../domain/scope.ts";
import { tripleStoreSuite } from "../../../testing/triple-store-suite.ts";
import { openSqliteItems, openSqliteTriples } from "../index.ts";
import { openDatabase } from "../schema.ts";
import { planRanges, rangeSql } from "./reader.ts";
import { createTripleTables, hashOf, placesOf } from "./schema.ts";
import { ofSourceSql } from "./supports.ts";

const folders: string[] = [];
function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-triples-"));
  folders.push(dir);
  return dir;
}
afterAll(() => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
});

const shared = folder();
tripleStoreSuite("sqlite", () => openSqliteTriples({ dir: shared }));

const scope = tenantScope("acme");
const quad = (s: string, p: string, o: string, g?: string): Quad => ({
  s: iri(s),
  p: iri(p),
  o: iri(o),
  g: g === undefined ? defaultGraph : iri(g),
});

function inspect<T>(dir: string, read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(dir, "pinakes-triples.sqlite"), { readOnly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const tables = (db: DatabaseSync): string[] =>
  db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => name as string);

describe("the SQLite file of triples", () => {
  it("of another format is rejected, and left as it is; so is that of the items", async () => {
    const dir = folder();
    await (await openSqliteItems({ dir })).close();
    await (await openSqliteTriples({ dir })).close();
    for (const name of ["pinakes.sqlite", "pinakes-triples.sqlite"]) {
      const db = new DatabaseSync(join(dir, name));
      db.exec("UPDATE meta SET value = '2' WHERE name = 'format'");
      db.close();
    }
    const refused = {
      code: "NOT_SUPPORTED",
      message: expect.stringContaining('has format "2"; this version of Pinakes reads format 1.'),
    };
    await expect(openSqliteTriples({ dir })).rejects.toMatchObject(refused);
    await expect(openSqliteItems({ dir })).rejects.toMatchObject(refused);
  });

  it("is beside the items' file, can be named by the caller, and opening again changes nothing in it", async () => {
    const dir = folder();
    const schemas: unknown[] = [];
    for (let i = 0; i < 2; i += 1) {
      await using items = await openSqliteItems({ dir });
      await using store = await openSqliteTriples({ dir });
      expect([items.capabilities.engine, store.capabilities.engine]).toEqual(["sqlite", "sqlite"]);
      schemas.push(inspect(dir, (db) => db.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all()));
    }
    expect(schemas[1]).toEqual(schemas[0]);
    expect(readdirSync(dir).filter((file) => file.endsWith(".sqlite"))).toContain("pinakes-triples.sqlite");
    await using _named = await openSqliteTriples({ dir, database: "other" });
    expect(existsSync(join(dir, "other-triples.sqlite"))).toBe(true);
  });

  it("R-TG-71 R-TG-85 a thousand spaces have the same tables and files as one, behind one handle", async () => {
    const dir = folder();
    await using store = await openSqliteTriples({ dir });
    await store.open(scope, "c0");
    const before = [inspect(dir, tables), readdirSync(dir)];
    const spaces = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
    await Promise.all(spaces.map((space) => store.open(scope, space)));
    const insert = [quad("s", "p", "o"), quad("s", "p", "o", "g")];
    await Promise.all(
      spaces.map((space, part) => store.write(scope, space, { insert, source: { source: "doc", part } })),
    );
    expect([inspect(dir, tables), readdirSync(dir)]).toEqual(before);
    expect((await store.match(scope, "c500", {})).quads.length).toBe(2);
    expect((await store.spaces(scope)).spaces.length).toBe(1_000);
  });

  it("R-TG-81 R-TG-89 every pattern, from its beginning and from a cursor, is one search of a covering order by all that is bound", () => {
    const db = openDatabase(join(folder(), "plans.db"));
    createTripleTables(db);
    let ranges = 0;
    for (let shape = 0; shape < 8; shape += 1) {
      for (const g of [undefined, defaultGraph, iri("g")]) {
        const pattern = {
          s: (shape & 1) === 0 ? undefined : iri("s"),
          p: (shape & 2) === 0 ? undefined : iri("p"),
          o: (shape & 4) === 0 ? undefined : iri("o"),
          g,
        };
        for (const range of planRanges(pattern, { s: 1, p: 2, o: 3, g: 4 })) {
          ranges += 1;
          const bound = ["space", ...placesOf(range.order).slice(0, range.bound.length)]
            .map((column) => `${column}=?`)
            .join(" AND ");
          for (const want of ["first", "after", "count", "countUpTo"] as const) {
            if (want === "after" && range.free.length === 0) continue;
            const plan = db
              .prepare(`EXPLAIN QUERY PLAN ${rangeSql(range, want)}`)
              .all()
              .map(({ detail }) => detail as string);
            const from =
              want === "after" ? ` AND ${range.free.length === 1 ? range.free[0] : `(${range.free.join(",")})`}>` : "";
            const searches = plan.filter(
              (line) => line.startsWith("SEARCH") || line.startsWith("SCAN ") || line.includes("TEMP B-TREE"),
            );
            expect(searches.filter((line) => line !== "SCAN (subquery-1)").length, plan.join("; ")).toBe(1);
            expect(searches[0]).toContain(`SEARCH ${range.order} USING PRIMARY KEY (${bound}${from}`);
          }
        }
      }
    }
    expect(ranges).toBe(8 * 4);
    db.close();
  });

  it("R-TG-81 what a source supports, from its beginning and from a cursor, is one search of the mirror of supports", () => {
    const db = openDatabase(join(folder(), "plans.db"));
    createTripleTables(db);
    for (const [want, from] of [
      ["first", ""],
      ["after", " AND (s,p,o,g,part)>(?,?,?,?,?)"],
    ] as const) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${ofSourceSql(want)}`).all();
      expect(plan.map(({ detail }) => detail)).toEqual([
        `SEARCH supports_by_source USING PRIMARY KEY (space=? AND source=?${from})`,
      ]);
    }
    db.close();
  });

  it("terms with the same hash are distinguished by their text", async () => {
    const dir = folder();
    const [one, two] = [iri("one"), iri("two")];
    const rows = [one, two].map((s): Quad => ({ ...quad("s", "p", "o"), s }));
    {
      await using store = await openSqliteTriples({ dir });
      await store.open(scope, "c");
      await store.write(scope, "c", { insert: rows.slice(0, 1) });
    }
    // As if both had the same.
    const db = openDatabase(join(dir, "pinakes-triples.sqlite"));
    db.prepare("INSERT INTO term_hashes SELECT space, ?, id FROM terms WHERE text = ?").run(hashOf(two), one);
    db.close();
    await using store = await openSqliteTriples({ dir });
    expect((await store.match(scope, "c", { s: two })).quads).toEqual([]);
    expect(await store.write(scope, "c", { remove: rows.slice(1) })).toEqual({ inserted: 0, removed: 0 });
    expect(await store.write(scope, "c", { insert: rows })).toEqual({ inserted: 1, removed: 0 });
    for (const row of rows) expect((await store.match(scope, "c", { s: row.s })).quads).toEqual([row]);
    expect(await store.write(scope, "c", { remove: rows.slice(1) })).toEqual({ inserted: 0, removed: 1 });
    expect((await store.match(scope, "c", {})).quads).toEqual(rows.slice(0, 1));
  });

  it("R-TG-129 a removed quad leaves nothing in any table, and a purged space leaves its name only", async () => {
    const dir = folder();
    await using store = await openSqliteTriples({ dir });
    const left = () =>
      inspect(dir, (db) =>
        Object.fromEntries(
          tables(db).map((table) => [table, db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]]),
        ),
      );
    await store.open(scope, "c");
    const empty = left();
    const rows = [
      quad("s", "p", "o"),
      quad("s", "p", "o", "g"),
      { ...quad("s", "p", "o"), o: literal("secret words") },
    ];
    await store.write(scope, "c", { insert: rows });
    await store.write(scope, "c", { insert: rows, source: { source: "a", part: 1 } });
    await store.write(scope, "c", { insert: rows.slice(0, 2), source: { source: "b", part: 1 } });
    await store.removeSource(scope, "c", "a");
    await store.write(scope, "c", { remove: rows });
    expect(left()).toEqual(empty);
    await store.write(scope, "c", { insert: rows, source: { source: "a", part: 1 } });
    await store.write(scope, "c", { insert: rows });
    // Its rows of support are as many as a step takes, with the marks of what is asserted among them.
    for (let done = false; !done;) ({ done } = await store.purge(scope, "c", { limit: 3 }));
    expect(left()).toEqual(empty);
  });

  it("numbers of terms are not reused: a cursor keeps its position when the terms around it are removed and added again", async () => {
    await using store = await openSqliteTriples({ dir: folder() });
    await store.open(scope, "c");
    const rows = Array.from({ length: 10 }, (_, i) => quad(`s${i}`, "p", "o"));
    await store.write(scope, "c", { insert: rows });
    const { cursor, quads } = await store.match(scope, "c", {}, { limit: 4 });
    await store.write(scope, "c", { remove: quads });
    await store.write(scope, "c", { insert: Array.from({ length: 4 }, (_, i) => quad(`new${i}`, "p", "o")) });
    const rest = await store.match(scope, "c", {}, { cursor });
    expect(rest.quads.slice(0, 6)).toEqual(rows.slice(4));
    expect(rest.quads.length).toBe(10);
  });

  it("a file that is no database is named in the error", async () => {
    const dir = folder();
    writeFileSync(join(dir, "pinakes-triples.sqlite"), "x".repeat(10_000));
    await expect(openSqliteTriples({ dir })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      detail: expect.stringContaining("pinakes-triples.sqlite") as string,
    });
  });
});
