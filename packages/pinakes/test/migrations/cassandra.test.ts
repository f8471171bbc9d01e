/**
 * TrustGraph's tables read from Cassandra itself. The server is started by hand (docs/migrations.md) and named in PINAKES_TEST_CASSANDRA;
 * without it only addresses and refusals are tested.
 */
import { Client } from "cassandra-driver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeUser } from "./support/legacy-files.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const node = globalThis.process.env["PINAKES_TEST_CASSANDRA"];
const reason = "skipped: PINAKES_TEST_CASSANDRA names no server";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const spec = (cassandra: string, more: object = {}) => ({ kind: "triples", objects: "absolute", cassandra, ...more });

describe("addresses", () => {
  it("have a closed set of parts, no password, and a keyspace", async () => {
    for (const wrong of [
      "cassandra://h:9042/ks?contactPoints=other",
      "cassandra://h:9042/ks?tls=no",
      "cassandra://h,other:9042/ks",
      "cassandra://h:9042/ks#x",
      "cassandra://u:secret@h:9042/ks",
      "cassandra://h:9042",
      "http://h:9042/ks",
    ]) {
      const plan = process.plan(spec(wrong));
      await expect(plan, wrong).rejects.toMatchObject({ code: "INVALID" });
      await expect(plan, wrong).rejects.not.toThrow("secret");
    }
  });

  it("are those that the operator allows: the node, and what the entry fixes", async () => {
    const closed = await world.process(["cassandra://ann@127.0.0.1:9/tg?tls=require"]);
    for (const other of [
      "cassandra://127.0.0.1:10/tg",
      "cassandra://127.0.0.2:9/tg",
      "cassandra://127.0.0.1:9/other",
      "cassandra://ben@127.0.0.1:9/tg",
    ])
      await expect(closed.plan(spec(other)), other).rejects.toMatchObject({ code: "FORBIDDEN" });
    // Its user has no password configured.
    const asked = await closed.plan(spec("cassandra://127.0.0.1:9/tg", { user: "ann" })).catch((error: Error) => error);
    expect(String((asked as { error?: unknown }).error ?? asked)).toContain("CASSANDRA_PASSWORD");
    await closed.close();
  });

  it("a node that does not answer is unavailable", async () => {
    const asked = await process
      .plan(spec("cassandra://127.0.0.1:9/tg", { user: "ann" }))
      .catch((error: Error) => error);
    expect(String((asked as { error?: unknown }).error ?? asked)).toContain("cannot be read");
  });
});

describe.skipIf(node === undefined)(node === undefined ? reason : "a real server", () => {
  const keyspace = "pinakes_migrations";
  const [host, port] = (node ?? "").split(":") as [string, string];
  const e = (name: string) => `http://e.org/${name}`;
  let client: Client;
  beforeAll(async () => {
    client = new Client({ contactPoints: [`${host}:${port}`], localDataCenter: "datacenter1" });
    await client.connect();
    const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`);
    await client.execute(`CREATE KEYSPACE ${keyspace} WITH replication = ${replication}`);
    await client.execute(
      `CREATE TABLE ${keyspace}.triples (collection text, s text, p text, o text, PRIMARY KEY (collection, s, p, o))`,
    );
    await client.execute(
      `CREATE TABLE ${keyspace}.quads_by_collection (collection text, d text, s text, p text, o text, otype text, dtype text, lang text, PRIMARY KEY (collection, d, s, p, o, otype, dtype, lang))`,
    );
  });
  afterAll(() => client?.shutdown());

  const insert = async (table: string, rows: readonly (readonly string[])[]) => {
    const marks = rows[0]?.map(() => "?").join(", ");
    const columns = table === "triples" ? "collection, s, p, o" : "collection, d, s, p, o, otype, dtype, lang";
    for (const row of rows)
      await client.execute(`INSERT INTO ${keyspace}.${table} (${columns}) VALUES (${marks})`, [...row], {
        prepare: true,
      });
  };
  const matches = async (user: string, collection: string) =>
    (await process.knowledge.graph.matchTriples(makeUser(user), "me", collection, { limit: 10_000 })).items;

  it("R-TG-91 R-TG-94 the unified table, page by page, and quads with graphs, types and languages", async () => {
    // More than one page of the driver.
    await insert("triples", [
      ...Array.from({ length: 2_100 }, (_, i) => ["papers", e(`s${i % 70}`), e("p"), `text ${i}`]),
      ["papers", e("a"), e("p"), e("b")],
      ["Notes_1", "_:x", e("p"), 'Grüße "x"'],
    ]);
    await insert("quads_by_collection", [
      ["quads", "", e("a"), e("p"), "7", "l", "http://www.w3.org/2001/XMLSchema#integer", ""],
      ["quads", e("g"), e("a"), e("p"), "Wald", "l", "", "de"],
      ["quads", "", e("a"), e("p"), e("b"), "u", "", ""],
    ]);
    const plan = await process.plan(spec(`cassandra://${host}:${port}/${keyspace}`, { user: "cass" }));
    expect(plan, JSON.stringify(plan)).toMatchObject({ problem_count: 0 });
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    const papers = await matches("cass", "papers");
    expect(papers).toHaveLength(2_101);
    expect(papers.filter(({ o }) => o.type === "iri").map(({ o }) => o.value)).toEqual([e("b")]);
    expect((await matches("cass", "Notes_1")).map(({ o }) => o.value)).toEqual(['Grüße "x"']);
    const quads = (await matches("cass", "quads")).map(({ o, g }) => [
      o.type === "literal" ? (o.language ?? o.datatype) : o.type,
      o.value,
      g?.value,
    ]);
    expect(quads.toSorted()).toEqual([
      ["de", "Wald", e("g")],
      ["http://www.w3.org/2001/XMLSchema#integer", "7", undefined],
      ["iri", e("b"), undefined],
    ]);
    // Nothing here was changed, and a second look finds the same.
    const again = await process.plan(spec(`cassandra://${host}:${port}/${keyspace}`, { user: "other" }));
    expect(again).toMatchObject({ problem_count: 0 });
  });

  it("R-TG-91 a table of another kind is a problem of the plan until it is skipped; a missing keyspace is refused", async () => {
    await client.execute(`CREATE TABLE ${keyspace}.other (id uuid PRIMARY KEY, name text)`);
    const plan = await process.plan(spec(`cassandra://${host}:${port}/${keyspace}`, { user: "third" }));
    expect(JSON.stringify(plan)).toContain("has no column");
    const skipped = await process.plan(
      spec(`cassandra://${host}:${port}/${keyspace}`, { user: "third", tables: { other: { skip: true } } }),
    );
    expect(skipped).toMatchObject({ problem_count: 0 });
    await expect(
      process.plan(spec(`cassandra://${host}:${port}/no_such_keyspace`, { user: "third" })),
    ).rejects.toMatchObject({ code: "INVALID" });
  });
});
