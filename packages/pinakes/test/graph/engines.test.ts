/** The graph of collections on every engine: loaded triples are found, by the right caller, in the right collection, until its end. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { body, openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { useServers } from "../support/servers.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { GraphPlace, line } from "./support/graph-place.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();

const people = `@prefix e: <https://e.org/> .
e:ada a e:Person ; e:name "Ada"@en , "Ada" ; e:age 36 ; e:knows e:charles , [ e:name "Mary" ] .
e:charles a e:Person ; e:name "Charles" .
`;
const code = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "done",
    (error: unknown) => (PinakesError.isInstance(error) ? error.code : String(error)),
  );

describe.each([
  ["memory", () => openTestPinakes("memory")],
  ["SQLite", () => openTestPinakes("sqlite")],
  ["PostgreSQL", () => openTestPinakes("elsewhere", { items: postgres() })],
  ["DynamoDB", () => openTestPinakes("elsewhere", { items: dynamo("graph") })],
])("the graph on %s", (_, open: () => Promise<TestPinakes>) => {
  const test = forAllTests(() => open());

  it("R-TG-72 R-TG-84 loaded triples are found by every pattern, once however often they are sent, with their kinds of terms distinct", async () => {
    const place = await GraphPlace.make(test);
    expect(await place.load(people)).toEqual({ read: 9, inserted: 9 });
    expect(await place.load(people)).toEqual({ read: 9, inserted: 0 });
    expect(await place.lines()).toHaveLength(9);
    expect(await place.lines({ s: "https://e.org/ada", p: "<https://e.org/name>" })).toEqual([
      '<https://e.org/ada> <https://e.org/name> "Ada"',
      '<https://e.org/ada> <https://e.org/name> "Ada"@en',
    ]);
    expect(await place.lines({ o: '"Ada"' })).toHaveLength(1);
    expect(
      await place.lines({ o: { type: "literal", value: "36", datatype: "http://www.w3.org/2001/XMLSchema#integer" } }),
    ).toHaveLength(1);
    expect(
      await place.lines({ p: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", o: "https://e.org/Person" }),
    ).toHaveLength(2);
    expect(await place.lines({ o: "https://e.org/Ada" })).toEqual([]);
    expect(await place.usage()).toBe(9);
  });

  it("R-TG-83 pages visit each triple once, say whether there are more, and their cursors are bound to caller, collection and pattern", async () => {
    const place = await GraphPlace.make(test);
    const other = await GraphPlace.make(test);
    await place.load(
      Array.from({ length: 25 }, (__, i) => `<https://e.org/s${i % 5}> <https://e.org/p> ${i} .`).join("\n"),
    );
    expect(new Set(await place.lines({ limit: 4 })).size).toBe(25);
    const first = await place.match({ limit: 4 });
    expect(first).toMatchObject({ truncated: true, next_cursor: expect.any(String) as string });
    expect(first.items).toHaveLength(4);
    expect(await place.match({ limit: 25 })).toMatchObject({ truncated: false, next_cursor: null });
    const cursor = first.next_cursor as string;
    expect(await code(place.match({ limit: 9, cursor }))).toBe("done");
    const changed = `${cursor.startsWith("A") ? "B" : "A"}${cursor.slice(1)}`;
    const wrong = [
      place.match({ p: "https://e.org/p", cursor }),
      other.match({ cursor }),
      place.match({ cursor: changed }),
      place.match({ cursor: "" }),
    ];
    expect(await Promise.all(wrong.map(code))).toEqual(wrong.map(() => "INVALID"));
    const stranger = test.as("root", { tenant: "elsewhere", role: "admin" });
    await test.knowledge.repositories.create(stranger, { repository_id: place.repository });
    await test.knowledge.collections.create(stranger, place.repository, { collection_id: place.collection });
    expect(await code(place.as(stranger).match({ cursor }))).toBe("INVALID");
  });

  it("R-TG-32 R-TG-82 neighbours and other workspaces are unaffected, whatever is queried or removed in a collection", async () => {
    const { repository } = await GraphPlace.make(test, "papers");
    const names = ["papers", "papers_2024", "papers-2024", "Papers.2024", "Case", "case"];
    const places: GraphPlace[] = [];
    for (const name of names)
      places.push(
        name === "papers" ? new GraphPlace(test, repository, name) : await GraphPlace.make(test, name, repository),
      );
    const stranger = test.as("root", { tenant: "apart", role: "admin" });
    await test.knowledge.repositories.create(stranger, { repository_id: repository });
    await test.knowledge.collections.create(stranger, repository, { collection_id: "papers" });
    places.push(new GraphPlace(test, repository, "papers", stranger));
    for (const [i, place] of places.entries())
      await place.load(
        `<https://e.org/s> <https://e.org/of> "${i}" . GRAPH <https://e.org/g> { <https://e.org/s> <https://e.org/in> "${i}" }`,
        {
          format: "trig",
        },
      );
    for (const [i, place] of places.entries()) {
      expect(await place.lines()).toEqual([
        `<https://e.org/s> <https://e.org/in> "${i}" <https://e.org/g>`,
        `<https://e.org/s> <https://e.org/of> "${i}"`,
      ]);
      expect(await place.rows("SELECT ?o { ?s ?p ?o }")).toEqual([[`"${i}"`]]);
      expect(await place.rows("SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } }")).toEqual([["<https://e.org/g>", `"${i}"`]]);
    }
    expect(await places[0]?.remove({ confirm: "papers" })).toBe(2);
    expect(await places[4]?.sparql({ update: "CLEAR ALL" })).toEqual({ kind: "updated", inserted: 0, removed: 2 });
    expect(await Promise.all(places.map((place) => place.usage()))).toEqual([0, 2, 2, 2, 0, 2, 2]);
  });

  it("R-TG-47 R-TG-48 a load after the end of its collection is refused and counted; a new incarnation of the id starts empty, and the old one is restored completely", async () => {
    const place = await GraphPlace.make(test);
    const { knowledge, admin, pinakes } = test;
    await place.load(people);
    const before = pinakes.lateWrites();
    const gate = Promise.withResolvers<void>();
    const late = place.graph.loadTriples(admin, place.repository, place.collection, {
      format: "ntriples",
      body: (async function* () {
        await gate.promise;
        yield* body('<https://e.org/s> <https://e.org/p> "late" .\n');
      })(),
    });
    await knowledge.collections.delete(admin, place.repository, place.collection);
    const refused = [
      place.match(),
      place.rows("SELECT * { ?s ?p ?o }"),
      place.load(people),
      place.remove({ s: "https://e.org/ada" }),
    ];
    expect(await Promise.all(refused.map(code))).toEqual(refused.map(() => "NOT_FOUND"));
    gate.resolve();
    expect(await code(late)).toBe("CONFLICT");
    expect(pinakes.lateWrites()).toBe(before + 1);
    await knowledge.collections.restore(admin, place.repository, place.collection);
    expect(await place.lines()).toHaveLength(9);
    const { incarnation } = await knowledge.collections.get(admin, place.repository, place.collection);
    await knowledge.collections.delete(admin, place.repository, place.collection, {
      purge: true,
      confirm: place.collection,
    });
    await until(async () => (await pinakes.triples.usage(admin.scope, incarnation)).quads === 0);
    await knowledge.collections.create(admin, place.repository, { collection_id: place.collection, name: "Again" });
    expect(await place.lines()).toEqual([]);
    expect(await place.load("<https://e.org/s> <https://e.org/p> 1 .")).toEqual({ read: 1, inserted: 1 });
    await expect(
      pinakes.triples.write(admin.scope, incarnation, { insert: [{ s: "<a:b>", p: "<a:b>", o: "<a:b>", g: "" }] }),
    ).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await place.usage()).toBe(1);
  });

  it("R-TG-88 R-TG-127 a query over several collections is their union, each triple with its own; a forbidden one refuses all", async () => {
    const one = await GraphPlace.make(test, "one");
    const two = await GraphPlace.make(test, "two");
    const apart = await GraphPlace.make(test, "apart");
    const secret = await test.knowledge.collections.create(test.admin, one.repository, {
      collection_id: "secret",
      private: true,
    });
    await one.load("<https://e.org/s> <https://e.org/p> 1 , 2 . _:x <https://e.org/p> 9 .");
    await two.load("<https://e.org/s> <https://e.org/p> 2 , 3 .");
    await apart.load("<https://e.org/s> <https://e.org/p> 4 .");
    const collections = [one, two].map(({ repository, collection }) => ({ repository, collection }));
    const tagged: string[] = [];
    for await (const page of pagesOf((cursor) =>
      one.graph.matchAcross(test.admin, {
        collections,
        p: "https://e.org/p",
        s: "https://e.org/s",
        limit: 1,
        cursor,
      }),
    )) {
      expect(page.items.length).toBeLessThanOrEqual(1);
      expect(page.truncated).toBe(page.next_cursor !== null);
      tagged.push(...page.items.map((item) => `${item.collection_id} ${line(item).split(" ").at(-1)?.split("^")[0]}`));
    }
    expect(tagged.toSorted()).toEqual(['one "1"', 'one "2"', 'two "2"', 'two "3"']);
    const result = await one.graph.sparqlAcross(test.admin, {
      collections,
      query: "SELECT ?o { <https://e.org/s> ?p ?o }",
    });
    if (result.kind !== "bindings") throw new Error("no rows");
    expect(
      (await Array.fromAsync(result.rows))
        .flat()
        .map((text) => text?.split("^")[0])
        .toSorted(),
    ).toEqual(['"1"', '"2"', '"3"']);
    const olaf = test.as("olaf");
    for (const [name, expected] of [
      ["secret", "NOT_FOUND"],
      ["absent", "NOT_FOUND"],
      ["../x", "INVALID"],
    ] as const) {
      const asked = { collections: [...collections, { repository: one.repository, collection: name }] };
      expect(await code(one.graph.matchAcross(olaf, asked)), name).toBe(expected);
      expect(await code(one.graph.sparqlAcross(olaf, { ...asked, query: "ASK {}" })), name).toBe(expected);
    }
    expect(secret.private).toBe(true);
  });

  it("R-TG-123 SPARQL updates change what they say, and patterns and exact triples are removed", async () => {
    const place = await GraphPlace.make(test);
    await place.load(people);
    expect(
      await place.sparql({
        update: `PREFIX e: <https://e.org/> DELETE { ?s e:age ?a } INSERT { ?s e:age 37 } WHERE { ?s e:age ?a }`,
      }),
    ).toMatchObject({
      inserted: 1,
      removed: 1,
    });
    expect(await place.rows("SELECT ?a { ?s <https://e.org/age> ?a }")).toEqual([
      ['"37"^^<http://www.w3.org/2001/XMLSchema#integer>'],
    ]);
    expect(await place.remove({ s: "https://e.org/charles" })).toBe(2);
    const [blank] = (await place.match({ o: '"Mary"' })).items;
    expect(
      await place.remove({
        triples: [blank as never, blank as never, { s: "https://e.org/none", p: "https://e.org/p", o: '"x"' }],
      }),
    ).toBe(1);
    expect(await place.usage()).toBe(6);
    expect(await code(place.remove())).toBe("INVALID");
    expect(await code(place.remove({ confirm: "Papers" }))).toBe("INVALID");
    expect(await place.remove({ confirm: "papers" })).toBe(6);
  });
});
