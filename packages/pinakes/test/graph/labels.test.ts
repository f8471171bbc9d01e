/** The graph of labels by which searches find entities: visible to searches and by its name, and otherwise hidden. */
import { expect, it } from "vitest";
import { labelsGraph } from "../../src/knowledge/extraction/index.ts";
import { openTestPinakes, uploaded, type Place } from "../knowledge/support/test-pinakes.ts";
import { GraphPlace } from "./support/graph-place.ts";
import { forAllTests } from "../support/for-tests.ts";

const own = "urn:pinakes:labels";

const test = forAllTests(() => openTestPinakes("sqlite"));

/** Entities with names, as of two documents, and a graph loaded by a caller. */
async function filled(): Promise<GraphPlace> {
  const place = await GraphPlace.make(test);
  await test.knowledge.collections.update(test.admin, place.repository, place.collection, {
    graph: { extract: "structured", key: "name" },
  });
  const document = await uploaded(
    placeOf(place),
    "people.csv",
    "name,manager\nAda Lovelace,Grace Hopper\nGrace Hopper,Zed\n",
  );
  expect(document).toMatchObject({ status: "indexed", graph: { triples: 8 } });
  return place;
}

function placeOf({ repository, collection }: GraphPlace): Place {
  return { knowledge: test.knowledge, caller: test.admin, repository, collection };
}

const incarnationOf = async ({ repository, collection }: GraphPlace) =>
  (await test.knowledge.collections.get(test.admin, repository, collection)).incarnation;
const stored = async (place: GraphPlace) =>
  test.pinakes.triples.count(test.admin.scope, await incarnationOf(place), { g: labelsGraph });

it("R-TG-83 is in no page, whatever its size and pattern, and pages stay exact", async () => {
  const place = await filled();
  expect(await stored(place)).toBeGreaterThan(4);
  for (const limit of [1, 2, 3, 7, 8, 100]) {
    const lines = await place.lines({ limit });
    expect([lines.length, new Set(lines).size], `limit ${limit}`).toEqual([8, 8]);
    expect(lines.join()).not.toContain(own);
  }
  expect(await place.match({ limit: 8 })).toMatchObject({ truncated: false, next_cursor: null });
  expect(await place.match({ limit: 7 })).toMatchObject({ truncated: true });
  expect(await place.lines({ p: "urn:pinakes:label-key" })).toEqual([]);
  expect(await place.lines({ o: '"ada lovelace"' })).toEqual([]);
  const collections = [{ repository: place.repository, collection: place.collection }];
  expect((await place.graph.matchAcross(test.admin, { collections })).items).toHaveLength(8);
});

it("is in no download, so a single graph fits a format without named graphs", async () => {
  const place = await filled();
  for (const format of ["nquads", "trig", "jsonld", "turtle", "ntriples", "rdfxml"] as const) {
    const text = await place.text(format);
    expect(text, format).not.toContain("pinakes:label");
    expect(text, format).toContain("Lovelace");
  }
  await place.load("<a:s> <a:p> <a:o> <a:g> .\n", { format: "nquads" });
  await expect(place.text("turtle")).rejects.toMatchObject({
    code: "INVALID",
    detail: expect.stringContaining("such as <a:g>") as string,
  });
});

it("is in no query that does not name it: not as GRAPH ?g, not in the union of all graphs, not in DESCRIBE", async () => {
  const place = await filled();
  await place.load("<a:s> <a:p> <a:o> <a:g> .\n", { format: "nquads" });
  expect(await place.rows("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }")).toEqual([["<a:g>"]]);
  expect(await place.rows("SELECT ?g { GRAPH ?g {} }")).toEqual([["<a:g>"]]);
  const [[count] = []] = await place.rows("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", { default_graph: "union" });
  expect(count).toContain('"9"');
  expect(await place.rows("SELECT ?o { ?s <urn:pinakes:label-key> ?o }", { default_graph: "union" })).toEqual([]);
  const collections = [{ repository: place.repository, collection: place.collection }];
  const result = await place.graph.sparqlAcross(test.admin, {
    collections,
    query: "ASK { GRAPH ?g { ?s <urn:pinakes:label-key> ?o } }",
  });
  expect(result).toMatchObject({ kind: "boolean", value: false });
});

it("is visible by its name: as a pattern's graph, in a download, and in a query", async () => {
  const place = await filled();
  const count = await stored(place);
  expect(await place.lines({ g: own, limit: 2 })).toHaveLength(count);
  expect((await place.text("turtle", { g: own })).match(/label-key/g)).toHaveLength(2);
  expect(await place.rows(`SELECT * { GRAPH <${own}> { ?s ?p ?o } }`)).toHaveLength(count);
  expect(await place.rows("SELECT * { ?s ?p ?o }", { default_graphs: [own] })).toHaveLength(count);
});

it("is removed with its entities: removing an entity, or everything, counts only visible triples", async () => {
  const place = await filled();
  const before = await stored(place);
  const [{ s } = { s: undefined }] = (await place.match({ o: '"Ada Lovelace"' })).items;
  const shown = (await place.lines({ s: s as never })).length;
  expect(await place.remove({ s: s as never })).toBe(shown);
  expect(await stored(place)).toBeLessThan(before);
  const rest = (await place.lines()).length;
  expect(await place.remove({ confirm: place.collection })).toBe(rest);
  expect([await stored(place), await place.usage()]).toEqual([0, 0]);
  const other = await filled();
  expect(await other.sparql({ update: "DROP ALL" })).toMatchObject({ removed: 8 });
  expect([await stored(other), await other.usage()]).toEqual([0, 0]);
});

it("stays with its collection in the trash and back, and searches use it", async () => {
  const place = await filled();
  const found = async () =>
    (
      await test.knowledge.search.run(test.admin, {
        query: "Ada Lovelace",
        mode: "graph",
        collections: [{ repository: place.repository, collection: place.collection }],
      })
    ).graph?.entities.length;
  expect(await found()).toBe(1);
  const before = await stored(place);
  await test.knowledge.collections.delete(test.admin, place.repository, place.collection);
  await test.knowledge.collections.restore(test.admin, place.repository, place.collection);
  expect([await stored(place), await found()]).toEqual([before, 1]);
});
