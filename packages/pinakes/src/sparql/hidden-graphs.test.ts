/** Graphs that are only there for requests that name them. */
import { describe, expect, it } from "vitest";
import type { Quad } from "../domain/rdf.ts";
import { pagesOf } from "../runtime/pages.ts";
import { hideGraphs } from "./hidden-graphs.ts";
import { sparqlLimits } from "./limits.ts";
import { createSparql } from "./sparql.ts";
import { ask, graphOf, quads, select, term, testQuads, type TestQuads } from "./test-quads.ts";
import type { QuadSource } from "./types.ts";

const inner = term(":inner");
const stored = () =>
  testQuads(quads(":a :p 1\n:a :key 7 :inner\n:a :p 2 :g\n:b :key 8 :inner\n:b :p 3"), { pageQuads: 2 });
const shown = () => hideGraphs(stored(), [inner]);

describe("a request that names no hidden graph", () => {
  it.each([
    ["SELECT ?o { ?s ?p ?o } ORDER BY ?o", ["1", "3"]],
    ["SELECT ?g { GRAPH ?g { } }", [":g"]],
    ["SELECT ?o { GRAPH ?g { ?s ?p ?o } }", ["2"]],
    ['SELECT ?o { BIND(IRI(CONCAT("http://x/", "inner")) AS ?g) GRAPH ?g { ?s ?p ?o } }', []],
    ["SELECT ?o { ?s :key ?o }", []],
  ])("does not see it: %s", async (text, rows) => {
    expect(await select(shown(), text)).toEqual(rows);
  });
  it("nor in the union of all graphs, nor in what describes a thing", async () => {
    expect(await select(shown(), "SELECT ?o { ?s ?p ?o } ORDER BY ?o", { defaultGraph: "union" })).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect((await graphOf(shown(), "DESCRIBE :a")).toSorted()).toEqual([":a :p 1", ":a :p 2"]);
    expect(await ask(shown(), "ASK { GRAPH ?g { ?s :key ?o } }")).toBe(false);
  });
});

describe("a request that names it", () => {
  it.each([
    ["SELECT ?o { GRAPH :inner { ?s ?p ?o } } ORDER BY ?o", ["7", "8"]],
    ["SELECT ?o { VALUES ?g { :inner } GRAPH ?g { ?s ?p ?o } } ORDER BY ?o", ["7", "8"]],
    ["SELECT ?o { GRAPH ?g { ?s ?p ?o } VALUES ?g { :inner } } ORDER BY ?o", ["7", "8"]],
    ["SELECT ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g = :inner) } ORDER BY ?o", ["7", "8"]],
    ["SELECT ?o FROM :inner { ?s ?p ?o } ORDER BY ?o", ["7", "8"]],
    ["SELECT ?o FROM NAMED :inner { GRAPH ?g { ?s ?p ?o } } ORDER BY ?o", ["7", "8"]],
  ])("sees it: %s", async (text, rows) => {
    expect(await select(shown(), text)).toEqual(rows);
  });
  it("also where the protocol names it", async () => {
    const options = { dataset: { default: ["http://x/inner"], named: [] } };
    expect(await select(shown(), "SELECT ?o { ?s ?p ?o } ORDER BY ?o", options)).toEqual(["7", "8"]);
  });
});

describe("an update", () => {
  const change = async (text: string) => {
    const store = stored();
    const counts = await createSparql().update(hideGraphs(store, [inner]), store, `PREFIX : <http://x/> ${text}`);
    return { ...counts, left: store.quads().map(({ g }) => (g === inner ? "inner" : g === "" ? "none" : "named")) };
  };
  it("changes what it sees; who removes all graphs removes the hidden ones with them, uncounted", async () => {
    expect(await change("DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }")).toEqual({
      inserted: 0,
      removed: 1,
      left: ["none", "inner", "inner", "none"],
    });
    expect(await change("DROP NAMED")).toEqual({ inserted: 0, removed: 1, left: ["none", "inner", "inner", "none"] });
    expect(await change("DROP ALL")).toEqual({ inserted: 0, removed: 3, left: [] });
    expect(await change("DROP GRAPH :inner")).toEqual({ inserted: 0, removed: 2, left: ["none", "named", "none"] });
  });
});

describe("a page of what is shown", () => {
  const many = (plan: string) =>
    testQuads(
      plan
        .split("")
        .map((mark, i): Quad => ({ s: term(`:s${i}`), p: term(":p"), o: "1", g: mark === "x" ? inner : "" })),
      { pageQuads: 1_000_000 },
    );
  const walk = async (source: QuadSource, limit: number) => {
    const pages: Quad[][] = [];
    for await (const page of pagesOf((cursor) => source.match({}, { limit, cursor }))) {
      pages.push([...page.quads]);
    }
    return pages;
  };
  const visible = (store: TestQuads) => store.quads().filter(({ g }) => g !== inner);

  it("R-TG-83 holds as many as were asked for, each once, wherever those lie that are not shown", async () => {
    for (const plan of [
      "..........",
      "x.x.x.x.x.",
      ".xxxx....x",
      "xxxxxxxx..",
      "..xxxxxxxx",
      `${"x".repeat(500)}.${"x".repeat(700)}....`,
    ])
      for (const limit of [1, 2, 3, 7, 100]) {
        const store = many(plan);
        const pages = await walk(hideGraphs(store, [inner]), limit);
        expect(pages.flat(), `${plan} by ${limit}`).toEqual(visible(store));
        const [last, ...before] = pages.toReversed().filter(({ length }) => length > 0);
        expect(last?.length).toBeLessThanOrEqual(limit);
        for (const page of before) expect(page).toHaveLength(limit);
      }
  });

  it("ends early, with a cursor, after hiddenRowsMax that are not shown, and not one row sooner", async () => {
    const { hiddenRowsMax } = sparqlLimits;
    const page = async (hiddenRows: number) =>
      hideGraphs(many(`${"x".repeat(hiddenRows)}.`), [inner]).match({}, { limit: 1 });
    const [under, at] = [await page(hiddenRowsMax - 1), await page(2 * hiddenRowsMax)];
    expect(under.quads).toHaveLength(1);
    expect(at).toEqual({ quads: [], cursor: expect.any(String) as string });
    expect(Number(at.cursor)).toBeGreaterThanOrEqual(hiddenRowsMax);
    expect(Number(at.cursor)).toBeLessThanOrEqual(hiddenRowsMax + sparqlLimits.pageQuadsMax);
  });

  it("stays right when rows between two looks go away", async () => {
    const store = many(`${"x".repeat(10)}${".".repeat(10)}`);
    let calls = 0;
    const racing: QuadSource = {
      ...store,
      match: async (pattern, options) => {
        calls += 1;
        if (calls === 3) await store.write({ insert: [], remove: store.quads().filter(({ g }) => g === inner) });
        return store.match(pattern, options);
      },
    };
    const first = await hideGraphs(racing, [inner]).match({}, { limit: 2 });
    expect(calls).toBeGreaterThan(2);
    expect(first.quads.length).toBeLessThanOrEqual(2);
  });
});
