/** The tables of TrustGraph between 1.4.18 and 2.8, with graphs and with objects that say what they are: SQLite, PostgreSQL, files of cqlsh. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import pg from "pg";
import { startPostgres } from "../../src/drivers/postgres/test-server.ts";
import { makeUser } from "./support/legacy-files.ts";
import { legacyFile, World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const postgres = forAllTests(() => startPostgres());
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const e = (name: string) => `http://e.org/${name}`;
const xsd = "http://www.w3.org/2001/XMLSchema#";
/** collection, d, s, p, o, otype, dtype, lang */
const quads = [
  ["papers", "", e("a"), e("p"), e("b"), "u", "", ""],
  ["papers", "", e("a"), e("p"), e("b"), "l", "", ""],
  ["papers", "", e("a"), e("p"), "7", "l", `${xsd}integer`, ""],
  ["papers", "", e("a"), e("p"), "7", "l", "", ""],
  ["papers", "", e("a"), e("p"), "Wald", "l", "", "de"],
  ["papers", e("g"), e("a"), e("p"), "Wald", "l", "", "de"],
  ["papers", e("g"), "_:x1", e("p"), "_:x2", "u", "", ""],
  ["notes", "", e("a"), e("p"), "other", "l", "", ""],
] as const;
const columns = ["collection", "d", "s", "p", "o", "otype", "dtype", "lang"];
const expected = ['"7"', '"7"^^<http://www.w3.org/2001/XMLSchema#integer>', '"Wald"@de', `"${e("b")}"`, `<${e("b")}>`];

async function migrated(source: object): Promise<void> {
  const { migration_id, ...plan } = await process.plan({ kind: "triples", objects: "literal", ...source });
  expect(plan, JSON.stringify(plan)).toMatchObject({ problem_count: 0 });
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
    state: "switched",
    error: null,
  });
}
async function shown(user: string, collection: string, g: string | null): Promise<readonly string[]> {
  const { items } = await process.knowledge.graph.matchTriples(makeUser(user), "me", collection, {
    limit: 100,
    g: g === null ? null : { type: "iri", value: g },
  });
  return items
    .map(({ o }) =>
      o.type === "literal"
        ? `"${o.value}"${o.language === undefined ? "" : `@${o.language}`}${o.datatype === undefined ? "" : `^^<${o.datatype}>`}`
        : o.type === "iri"
          ? `<${o.value}>`
          : "_:",
    )
    .toSorted();
}
async function expectMigrated(user: string): Promise<void> {
  expect(await shown(user, "papers", null)).toEqual(expected.toSorted());
  expect(await shown(user, "papers", e("g"))).toEqual(['"Wald"@de', "_:"]);
  expect(await shown(user, "notes", null)).toEqual(['"other"']);
}

it("R-TG-91 R-TG-94 quads_by_collection of SQLite keeps graphs, types and languages", async () => {
  const path = join(world.folder, "quads.db");
  legacyFile(path, { quads_by_collection: quads }, columns.map((name) => `${name} TEXT`).join(", "));
  await migrated({ sqlite: path, user: "sq" });
  await expectMigrated("sq");
});

it("R-TG-91 R-TG-94 the same from files of cqlsh, with more rows than one copy step", async () => {
  const folder = join(world.folder, "cqlsh");
  await mkdir(folder);
  const many = Array.from({ length: 2_500 }, (_, i) => [
    "many",
    i % 2 === 0 ? "" : e("g"),
    e(`s${i % 50}`),
    e("p"),
    String(i >> 1),
    "l",
    `${xsd}integer`,
    "",
  ]);
  const line = (row: readonly string[]) => row.map((cell) => `"${cell}"`).join(",");
  await writeFile(
    join(folder, "quads_by_collection.csv"),
    [columns.join(","), ...quads.map(line), ...many.map(line)].join("\n"),
  );
  await migrated({ csv: folder, user: "cq" });
  await expectMigrated("cq");
  const page = await process.knowledge.graph.matchTriples(makeUser("cq"), "me", "many", { limit: 10_000 });
  expect(page.items).toHaveLength(2_500);
});

it("R-TG-91 R-TG-94 the same from PostgreSQL", async () => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(
    `CREATE SCHEMA tg; CREATE TABLE tg.quads_by_collection (${columns.map((name) => `${name} text`).join(", ")})`,
  );
  for (const row of quads)
    await client.query("INSERT INTO tg.quads_by_collection VALUES ($1,$2,$3,$4,$5,$6,$7,$8)", [...row]);
  await client.end();
  const address = new URL(postgres.url);
  globalThis.process.env["PGPASSWORD"] = decodeURIComponent(address.password);
  address.password = "";
  await migrated({ postgres: address.href, schema: "tg", user: "po" });
  await expectMigrated("po");
});

it("R-TG-91 R-TG-94 triples_collection and quads_coll, whose objects are texts", async () => {
  const path = join(world.folder, "between.db");
  const rows = [
    ["papers", e("a"), e("p"), e("b")],
    ["notes", e("a"), e("p"), "words"],
  ];
  legacyFile(path, { triples_collection: rows }, "collection TEXT, s TEXT, p TEXT, o TEXT");
  await migrated({ sqlite: path, user: "t1", objects: "absolute" });
  expect(await shown("t1", "papers", null)).toEqual([`<${e("b")}>`]);
  expect(await shown("t1", "notes", null)).toEqual(['"words"']);
  const later = join(world.folder, "coll.db");
  const withGraphs = [
    ["papers", "", ...(rows[0] as string[]).slice(1)],
    ["papers", e("g"), ...(rows[1] as string[]).slice(1)],
  ];
  legacyFile(later, { quads_coll: withGraphs }, "collection TEXT, g TEXT, s TEXT, p TEXT, o TEXT");
  await migrated({ sqlite: later, user: "t2", objects: "absolute" });
  expect(await shown("t2", "papers", null)).toEqual([`<${e("b")}>`]);
  expect(await shown("t2", "papers", e("g"))).toEqual(['"words"']);
});

it("R-TG-91 what cannot be taken is a problem of the plan: triples as terms, graphs that are no IRIs", async () => {
  const path = join(world.folder, "wrong.db");
  const rows = [
    ["papers", "", e("a"), e("p"), "<<x>>", "t", "", ""],
    ["papers", "no iri", e("a"), e("p"), "x", "l", "", ""],
    ["papers", "", e("a"), e("p"), "x", "", "", ""],
  ];
  legacyFile(path, { quads_by_collection: rows }, columns.map((name) => `${name} TEXT`).join(", "));
  const plan = await process.plan({ kind: "triples", objects: "literal", sqlite: path, user: "wr" });
  expect(plan.problem_count).toBe(3);
  expect(JSON.stringify(plan.problems)).toMatch(/otype.*quoted triples/);
});
