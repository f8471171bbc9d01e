/** What the suite cannot see: the tables themselves, locks, and reads between the steps of writes. */
import { expect, it } from "vitest";
import { iri, literal, type Quad } from "../../../domain/rdf.ts";
import type { TripleStore } from "../../../ports/triple-store.ts";
import { refusal, scope, TestDatabases } from "../test-databases.ts";
import { openPostgresTriples } from "./index.ts";
import { hashOf } from "./terms.ts";

const databases = new TestDatabases();
const quad = (s: string, p: string, o: string, g?: string): Quad => ({
  s: iri(s),
  p: iri(p),
  o: iri(o),
  g: g === undefined ? "" : iri(g),
});
const tables = ["triples", "quads", "triple_supports", "triple_terms"];

async function open(database: string): Promise<TripleStore> {
  return openPostgresTriples({ url: databases.server.url, database });
}

async function rowsOf(database: string): Promise<Record<string, number>> {
  const raw = await databases.raw();
  const counts: Record<string, number> = {};
  for (const table of tables)
    counts[table] = Number(
      (await raw.query<{ n: string }>(`SELECT count(*) AS n FROM "${database}".pinakes_${table}`)).rows[0]?.n,
    );
  return counts;
}

it("R-TG-71 the number of tables and indexes does not grow with the number of spaces", async () => {
  const database = databases.fresh();
  await using triples = await open(database);
  const raw = await databases.raw();
  const objects = async () =>
    (await raw.query(`SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace($1)`, [`"${database}"`])).rows.length;
  const before = await objects();
  for (let i = 0; i < 60; i += 1) {
    await triples.open(scope, `space-${i}`);
    await triples.write(scope, `space-${i}`, {
      insert: [quad("s", "p", "o", "g")],
      source: { source: "doc", part: 0 },
    });
  }
  expect(before).toBeGreaterThan(10);
  expect(await objects()).toBe(before);
});

it("R-TG-39 R-TG-129 removed quads leave no row and no term in any table", async () => {
  const database = databases.fresh();
  const nothing = { triples: 0, quads: 0, triple_supports: 0, triple_terms: 0 };
  await using triples = await open(database);
  const rows = Array.from({ length: 40 }, (_, i): Quad => ({
    s: iri(`s${i % 9}`),
    p: iri(`p${i % 3}`),
    o: literal(`${i}`),
    g: i % 2 === 0 ? "" : iri(`g${i}`),
  }));
  await triples.open(scope, "a");
  for (const source of ["one", "two"]) await triples.write(scope, "a", { insert: rows, source: { source, part: 1 } });
  expect(await rowsOf(database)).toMatchObject({ triples: 20, quads: 20, triple_supports: 80 });
  await triples.write(scope, "a", { remove: rows.slice(0, 15) });
  await triples.removeSource(scope, "a", "one");
  await triples.removeSource(scope, "a", "two");
  expect(await rowsOf(database)).toEqual(nothing);
  // Also of a source whose last quad was removed.
  await triples.write(scope, "a", { insert: rows.slice(0, 1), source: { source: "three", part: 1 } });
  await triples.write(scope, "a", { remove: rows.slice(0, 1) });
  expect(await rowsOf(database)).toEqual(nothing);
  await triples.write(scope, "a", { insert: rows, source: { source: "four", part: 1 } });
  for (let done = false; !done;) ({ done } = await triples.purge(scope, "a", { limit: 7 }));
  expect(await rowsOf(database)).toEqual(nothing);
});

it("R-TG-87 while a purge is in the middle of a step, other spaces are read and written", async () => {
  const database = databases.fresh();
  await using triples = await open(database);
  for (const space of ["a", "b"]) {
    await triples.open(scope, space);
    await triples.write(scope, space, { insert: [quad("s", "p", "o"), quad("s", "p", "o", "g")] });
  }
  await triples.purge(scope, "a", { limit: 1 });
  // A step as it is before its commit: it holds the space's row, and has deleted the rest.
  const raw = await databases.raw();
  await raw.query(`BEGIN; SELECT 1 FROM "${database}".pinakes_triple_spaces WHERE name = 'a' FOR UPDATE`);
  for (const table of tables)
    await raw.query(
      `DELETE FROM "${database}".pinakes_${table} WHERE space = (SELECT id FROM "${database}".pinakes_triple_spaces WHERE name = 'a')`,
    );
  const purging = triples.purge(scope, "a");
  expect((await triples.match(scope, "b", { p: iri("p") })).quads).toHaveLength(2);
  expect(await triples.write(scope, "b", { insert: [quad("s", "p", "o2")] })).toEqual({ inserted: 1, removed: 0 });
  expect(await triples.count(scope, "b", { s: iri("s") })).toBe(3);
  await refusal(triples.match(scope, "a", {}), "CONFLICT");
  await raw.query("ROLLBACK");
  expect(await purging).toMatchObject({ done: true });
  expect(await triples.usage(scope, "a")).toEqual({ quads: 0, supports: 0, terms: 0 });
});

it("R-TG-83 a page is a snapshot: of two quads that are swapped in one write exactly one is seen, and whole", async () => {
  const database = databases.fresh();
  await using writer = await open(database);
  await using reader = await open(database);
  await writer.open(scope, "a");
  // Each round has terms of its own, so that a reader has to look up every one of them, and they are removed again.
  const row = (i: number) => quad(`s${i}`, `p${i}`, `o${i}`, i % 2 === 0 ? undefined : `g${i}`);
  await writer.write(scope, "a", { insert: [row(0)] });
  let writing = true;
  const writes = (async () => {
    for (let i = 1; i <= 150; i += 1) await writer.write(scope, "a", { remove: [row(i - 1)], insert: [row(i)] });
    writing = false;
  })();
  let pages = 0;
  for (; writing; pages += 1) {
    const { quads } = await reader.match(scope, "a", {});
    expect(quads).toHaveLength(1);
    const number = Number((quads[0] as Quad).s.slice(2, -1));
    expect(quads).toEqual([row(number)]);
  }
  await writes;
  expect(pages).toBeGreaterThan(0);
  expect(await writer.usage(scope, "a")).toEqual({ quads: 1, supports: 0, terms: 3 });
});

it("a database of another format, and an invalid address, are rejected", async () => {
  const database = databases.fresh();
  await (await open(database)).close();
  const raw = await databases.raw();
  await raw.query(`UPDATE "${database}".pinakes_triple_meta SET value = '2' WHERE name = 'format'`);
  expect(await refusal(open(database), "NOT_SUPPORTED")).toContain("format 2");
  await refusal(openPostgresTriples({ url: "mysql://x" }), "INVALID");
  await refusal(openPostgresTriples({ url: databases.server.url, poolSize: 0 }), "INVALID");
});

it("triples and items may share a database", async () => {
  const database = databases.fresh();
  await using triples = await open(database);
  const items = await databases.store(database);
  await items.openContainer({ name: "notes", partitionKey: ["id"] });
  await triples.open(scope, "a");
  expect(await triples.write(scope, "a", { insert: [quad("s", "p", "o")] })).toEqual({ inserted: 1, removed: 0 });
});

it("R-TG-84 terms whose hashes collide are distinct", async () => {
  const database = databases.fresh();
  await using triples = await open(database);
  await triples.open(scope, "a");
  const [one, two] = [quad("one", "p", "o"), quad("two", "p", "o")];
  await triples.write(scope, "a", { insert: [one, two] });
  const raw = await databases.raw();
  // Such a pair cannot be constructed; the table is edited to contain one.
  const changed = await raw.query(
    `UPDATE "${database}".pinakes_triple_terms SET hash = $1 WHERE text IN ('<one>', '<two>')`,
    [hashOf(iri("two"))],
  );
  expect(changed.rowCount).toBe(2);
  expect((await triples.match(scope, "a", { s: iri("two") })).quads).toEqual([two]);
  expect(await triples.write(scope, "a", { insert: [two], remove: [two] })).toEqual({ inserted: 1, removed: 1 });
  expect(await triples.write(scope, "a", { remove: [two] })).toEqual({ inserted: 0, removed: 1 });
  expect((await triples.match(scope, "a", {})).quads).toEqual([one]);
  expect((await triples.match(scope, "a", { s: iri("two") })).quads).toEqual([]);
  // The remaining one has the hash of the other, which is new again.
  expect(await triples.write(scope, "a", { insert: [two] })).toEqual({ inserted: 1, removed: 0 });
  expect(await triples.usage(scope, "a")).toEqual({ quads: 2, supports: 0, terms: 4 });
});
