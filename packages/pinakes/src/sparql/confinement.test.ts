import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tenantScope } from "../domain/scope.ts";
import { openSqliteTriples } from "../drivers/sqlite/index.ts";
import { tripleStoreSink, tripleStoreSource, unionSource } from "./sources.ts";
import { createSparql } from "./sparql.ts";
import { ask, graphOf, quads, select, testQuads } from "./test-quads.ts";

const mine = () => testQuads(quads(":a :p 1\n:a :p 2 :g1\n_:b :p 3\n_:b :q _:c :g1"));
const other = () => testQuads(quads(":a :p 1\n:a :p 9 :g1\n_:b :p 4\n:x :y :z :secret"));

describe("R-TG-127 a request sees its source and nothing else", () => {
  it.each([
    ["SELECT ?o { ?s ?p ?o } ORDER BY ?o", ["1", "3"]],
    ["SELECT ?g { GRAPH ?g { } }", [":g1"]],
    ["SELECT ?s { GRAPH :secret { ?s ?p ?o } }", []],
    ["SELECT ?s { VALUES ?g { :secret } GRAPH ?g { ?s ?p ?o } }", []],
    ['SELECT ?s { BIND(IRI(CONCAT("http://x/", "secret")) AS ?g) GRAPH ?g { ?s ?p ?o } }', []],
    ["SELECT ?s FROM :secret { ?s ?p ?o }", []],
    ["SELECT ?s FROM NAMED :secret { GRAPH ?g { ?s ?p ?o } }", []],
    ["SELECT ?s FROM NAMED :secret { GRAPH ?g { ?s :y* ?o } }", []],
    ["SELECT ?s { ?s :y+ ?o }", []],
  ])("%s", async (text, rows) => {
    expect(await select(mine(), text)).toEqual(rows);
  });
  it("also where the caller names the graphs, and for ASK, CONSTRUCT and DESCRIBE", async () => {
    const secret = { dataset: { default: ["http://x/secret"], named: ["http://x/secret"] } };
    expect(await select(mine(), "SELECT ?s { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", secret)).toEqual([]);
    expect(await ask(mine(), "ASK { GRAPH :secret { ?s ?p ?o } }")).toBe(false);
    expect(await graphOf(mine(), "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH :secret { ?s ?p ?o } }")).toEqual([]);
    expect(await graphOf(mine(), "DESCRIBE :x")).toEqual([]);
  });
});

describe("R-TG-88 several collections are one", () => {
  const both = () => unionSource([mine(), other()]);
  it.each([
    ["a triple of both is there once", "SELECT ?o { :a :p ?o }", ["1"]],
    ["and once in a graph with a name", "SELECT ?g ?o { GRAPH ?g { :a :p ?o } } ORDER BY ?o", [":g1|2", ":g1|9"]],
    ["all graphs of both", "SELECT ?g { GRAPH ?g { } } ORDER BY ?g", [":g1", ":secret"]],
    [
      "blank nodes of the same label are two",
      "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?o FILTER(isBlank(?s)) }",
      ["2"],
    ],
    ["and are found again", "SELECT ?o { ?s :p ?o FILTER(isBlank(?s)) ?s :p ?o2 } ORDER BY ?o", ["3", "4"]],
    ["a blank node leads on in its own collection", "SELECT ?o { ?s :p ?o GRAPH ?g { ?s :q ?c } }", ["3"]],
  ])("%s", async (_, text, rows) => {
    expect(await select(both(), text)).toEqual(rows);
  });
  it("counts both, as far as it is asked", async () => {
    expect(await both().count({ p: "<http://x/p>" }, { max: 100 })).toBe(6);
    expect(await both().count({ p: "<http://x/p>" }, { max: 4 })).toBe(4);
    expect(await both().count({ s: "_:c0.b" }, { max: 100 })).toBe(2);
  });
  it("none at all is empty", async () => {
    expect(await select(unionSource([]), "SELECT * { ?s ?p ?o }")).toEqual([]);
  });
});

describe("R-TG-122 R-TG-123 R-TG-127 over a triple store", () => {
  const folder = mkdtempSync(join(tmpdir(), "pinakes-sparql-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const scope = tenantScope("acme");

  it("reads the spaces that it was given and writes to one, never those of others", async () => {
    await using store = await openSqliteTriples({ dir: folder });
    for (const [owner, space, content] of [
      [scope, "one", mine()],
      [scope, "two", other()],
      [scope, "three", testQuads(quads(":never :seen :here"))],
      [tenantScope("rival"), "one", testQuads(quads(":rival :p 77\n:rival :p 78 :g1"))],
    ] as const) {
      await store.open(owner, space);
      await store.write(owner, space, { insert: content.quads() });
    }
    const source = tripleStoreSource(store, scope, ["one", "two", "one"]);
    expect(await select(source, "SELECT ?o { { ?s :p ?o } UNION { ?s :seen ?o } } ORDER BY ?o")).toEqual([
      "1",
      "3",
      "4",
    ]);
    expect(await select(source, "SELECT ?g ?o { GRAPH ?g { ?s :p ?o } } ORDER BY ?o")).toEqual([":g1|2", ":g1|9"]);
    const one = tripleStoreSource(store, scope, ["one"]);
    expect(
      await createSparql().update(
        one,
        tripleStoreSink(store, scope, "one"),
        "DELETE WHERE { ?s <http://x/p> ?o } ; INSERT DATA { <http://x/n> <http://x/p> 5 }",
      ),
    ).toEqual({ inserted: 1, removed: 2 });
    expect(
      (await graphOf(one, "CONSTRUCT { ?s ?p ?o } WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")).toSorted(),
    ).toEqual([":a :p 2", ":n :p 5", "_:b :q _:c"]);
    expect(await select(tripleStoreSource(store, tenantScope("rival"), ["one"]), "SELECT ?o { ?s :p ?o }")).toEqual([
      "77",
    ]);
  });
});
