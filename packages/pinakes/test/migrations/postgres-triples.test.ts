/** Tables of triples in PostgreSQL: migrated, verified, removed, and restored. */
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startPostgres } from "../../src/drivers/postgres/test-server.ts";
import { PostgresTables } from "../../src/migrations/triples/postgres-tables.ts";
import type { RowKey } from "../../src/migrations/triples/tables.ts";
import { triples, World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

let client: pg.Client;
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
const server = forAllTests(() => startPostgres());
beforeAll(async () => {
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE SCHEMA "Legacy"');
  await client.query(
    'CREATE TABLE "Legacy".ann__papers (s text NOT NULL, p text NOT NULL, o text NOT NULL, created_at timestamptz, PRIMARY KEY (s, p, o))',
  );
  await client.query('CREATE INDEX by_o ON "Legacy".ann__papers (o)');
  for (const row of triples(2_500))
    await client.query('INSERT INTO "Legacy".ann__papers VALUES ($1, $2, $3, $4)', [...row, "2018-05-06T07:08:09Z"]);
  await client.query('CREATE TABLE "Legacy".odd (a int)');
});
afterAll(async () => {
  await client?.end();
});

/** The address without its password, as a migration may store it. */
function address(): string {
  const url = new URL(server.url);
  globalThis.process.env["PGPASSWORD"] = decodeURIComponent(url.password);
  url.password = "";
  return url.href;
}
const rows = async () =>
  (await client.query('SELECT s, p, o FROM "Legacy".ann__papers ORDER BY s COLLATE "C", p COLLATE "C", o COLLATE "C"'))
    .rows as unknown[];

it("R-TG-93 R-TG-94 R-TG-96 R-TG-97 a PostgreSQL schema, migrated and rolled back with an equal hash", async () => {
  const source = { kind: "triples", postgres: address(), schema: "Legacy", separator: "__", objects: "absolute" };
  const bad = await process.plan(source);
  expect(bad.problems.map(({ where }) => where)).toEqual(["odd", "odd"]);
  const { migration_id, problems } = await process.plan({ ...source, tables: { odd: { skip: true } } });
  expect(problems).toEqual([]);
  const before = await rows();
  await process.run(migration_id, "copy", "validate", "cutover");
  const [unit] = await process.units(migration_id);
  expect(unit).toMatchObject({ count: 2_500, held_hash: unit?.hash, created_at: "2018-05-06T07:08:09.000Z" });
  await process.finish(migration_id, { remove_old: true, now: true });
  await expect(rows()).rejects.toThrow(/does not exist/);
  expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  expect(await rows()).toEqual(before);
  const indexes = await client.query("SELECT indexname FROM pg_indexes WHERE schemaname = 'Legacy' ORDER BY 1");
  expect(indexes.rows.map((row) => (row as { indexname: string }).indexname)).toEqual(["ann__papers_pkey", "by_o"]);
  const again = await process.plan({ ...source, tables: { odd: { skip: true } } });
  expect((await process.units(again.migration_id))[0]).toMatchObject({ hash: unit?.hash, count: 2_500 });
});

it("R-TG-94 a PostgreSQL table with a column that names the collection becomes one collection per value", async () => {
  await client.query("CREATE SCHEMA shared");
  await client.query("CREATE TABLE shared.triples (collection varchar(80), s text, p text, o text)");
  const put = async (collection: string | null, salt: string, count: number) => {
    for (const row of triples(count, salt))
      await client.query("INSERT INTO shared.triples VALUES ($1, $2, $3, $4)", [collection, ...row]);
  };
  await put("pg1", "", 60);
  await put("pg2", "", 20);
  await put(null, "n", 5);
  const source = { kind: "triples", postgres: address(), schema: "shared", repository: "kb", objects: "absolute" };
  expect((await process.plan(source)).problems.map(({ where }) => where)).toEqual(["triples/"]);
  const { migration_id, problems } = await process.plan({
    ...source,
    tables: { "triples/": { collection: "pg-rest" } },
  });
  expect(problems).toEqual([]);
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
    state: "switched",
    error: null,
  });
  const held = async (collection: string) => {
    const { items } = await process.knowledge.graph.matchTriples(world.admin, "kb", collection, { limit: 1_000 });
    return items.map(({ s, p, o }) => JSON.stringify([s.value, p.value, o.value])).toSorted();
  };
  const texts = (wanted: readonly unknown[]) => wanted.map((row) => JSON.stringify(row)).toSorted();
  expect(await held("pg1")).toEqual(texts(triples(60)));
  expect(await held("pg2")).toEqual(texts(triples(20)));
  expect(await held("pg-rest")).toEqual(texts(triples(5, "n")));
  // A copy that resumes after a key, within one collection.
  await using tables = new PostgresTables({ shown: "here", connection: { connectionString: server.url } }, "shared");
  const columns = { s: "s", p: "p", o: "o", created_at: "created_at" };
  const part = { table: "triples", only: { column: "collection", value: "pg2" } };
  const all = await Array.fromAsync(tables.rows(part, columns));
  const key = Object.values(all[14] ?? {}) as unknown as RowKey;
  expect(await Array.fromAsync(tables.rows(part, columns, key))).toEqual(all.slice(15));
  await process.finish(migration_id, { remove_old: true, now: true });
  expect((await client.query("SELECT count(*)::int AS n FROM shared.triples")).rows).toEqual([{ n: 85 }]);
});
