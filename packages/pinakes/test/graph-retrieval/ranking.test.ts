/** What the graph adds to a ranking: answers that share no word with the query, reached by triples, with their sources. */
import { beforeAll, describe, expect, it } from "vitest";
import { engines, newPlace, openTestPinakes, uploaded, type Place } from "../knowledge/support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

/** A row names a manager, a file the managers' location, a page describes that location; thirty pages are about something else. */
async function fill(place: Place): Promise<void> {
  await uploaded(place, "people.csv", "name,manager\nAda Lovelace,Grace Hopper\nBob,Zed\n");
  await uploaded(place, "offices.json", JSON.stringify([{ name: "Grace Hopper", office: "Building 7" }]));
  await uploaded(place, "building-7.md", "---\ntitle: Building 7\n---\nA red door by the river, third floor.\n");
  const noise = Array.from({ length: 30 }, (_, i) =>
    uploaded(place, `note-${i}.txt`, `Where employees sit, note ${i}: the manager of a team sits where the team sits.`),
  );
  await Promise.all(noise);
}

describe.each(engines)("the graph in a search on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));
  const place = forAllTests(() => newPlace(test));
  beforeAll(async () => {
    await fill(place);
  });

  const question = "Where does the manager of Ada Lovelace sit?";
  const search = async (more: object = {}) =>
    test.knowledge.search.run(place.caller, {
      query: question,
      collections: [{ repository: place.repository, collection: place.collection }],
      limit: 50,
      ...more,
    });
  const rankOf = (hits: readonly { readonly citation: { readonly filename: string } }[], name: string) =>
    hits.findIndex(({ citation }) => citation.filename === name) + 1 || Infinity;

  it("R-TG-130 finds an answer two hops away that shares no word with the query, without any model", async () => {
    const plain = await search({ graph: { hops: 0 } });
    const { hits, graph } = await search({ graph: { hops: 2 } });
    expect(plain).not.toHaveProperty("graph");
    expect(rankOf(plain.hits, "offices.json")).toBeGreaterThan(30);
    expect(rankOf(hits, "offices.json")).toBe(2);
    expect(rankOf((await search({ graph: { hops: 3 } })).hits, "building-7.md")).toBe(3);
    expect(hits.find(({ citation }) => citation.filename === "offices.json")?.scores.graph).toBeGreaterThan(0.2);
    expect(graph?.entities.map(({ words }) => words)).toEqual(["Ada Lovelace"]);
    expect(graph?.edges.map(({ p, o, hop }) => [p.value.split("/").at(-1), o.value, hop])).toEqual(
      expect.arrayContaining([
        ["manager", "Grace Hopper", 1],
        ["office", "Building 7", 2],
      ]),
    );
    // Without graph evidence a score is unchanged.
    const scoresOf = (result: typeof plain) =>
      new Map(
        result.hits.filter(({ scores }) => scores.graph === undefined).map(({ chunk_id, score }) => [chunk_id, score]),
      );
    const before = scoresOf(plain);
    for (const [id, score] of scoresOf({ ...plain, hits })) expect(before.get(id)).toBe(score);
  });

  it("R-TG-130 the mode graph ranks only by the graph: near edges before far ones, and nothing else", async () => {
    const { hits, mode_used } = await search({ mode: "graph", graph: { hops: 3 } });
    expect(mode_used).toBe("graph");
    expect(hits.map(({ citation }) => citation.filename)).toEqual(["people.csv", "offices.json", "building-7.md"]);
    for (const { score, scores } of hits) expect(scores).toEqual({ graph: score });
    expect((await search({ mode: "graph" })).hits.map(({ citation }) => citation.filename)).toEqual(["people.csv"]);
    expect((await search({ mode: "graph", query: "zebras and quokkas" })).hits).toEqual([]);
  });

  it("R-TG-128 each edge names its chunks, which are at the stated position in the document", async () => {
    const { graph, hits } = await search({ graph: { hops: 2, limit: 100 } });
    const edge = graph?.edges.find(({ p }) => p.value.endsWith("p/office"));
    const [source] = edge?.sources ?? [];
    expect(edge?.sources).toHaveLength(1);
    const hit = hits.find(({ chunk_id }) => chunk_id === source?.chunk_id);
    expect(hit?.citation).toMatchObject({
      document_id: source?.document_id,
      start: source?.start,
      end: source?.end,
      filename: "offices.json",
      version: 1,
    });
    expect(hit?.text).toContain("Building 7");
    const {
      checks: [check],
    } = await test.knowledge.search.verifyCitations(place.caller, [hit?.citation as never]);
    expect(check).toMatchObject({ valid: true, result: "exact" });
  });

  it("explain reports what the graph added, the filter applies to its chunks and edges, and ranks can be fused too", async () => {
    const { hits, explain } = await search({ graph: { hops: 2 }, explain: true });
    expect(explain?.["graph"]).toMatchObject({ hops: 2, entities: 1 });
    const parts = hits.find(({ citation }) => citation.filename === "offices.json")?.explain?.["parts"];
    expect(parts).toMatchObject({ graph: expect.any(Number) });
    const filtered = await search({ graph: { hops: 3 }, filter: { file_type: "csv" } });
    expect(filtered.hits.map(({ citation }) => citation.filename)).toEqual(["people.csv"]);
    expect(new Set(filtered.graph?.edges.flatMap(({ sources }) => sources.map(({ filename }) => filename)))).toEqual(
      new Set(["people.csv"]),
    );
    const ranks = await search({ graph: { hops: 2 }, fusion: "rrf" });
    expect(rankOf(ranks.hits, "offices.json")).toBeLessThan(20);
    expect(rankOf((await search({ graph: { hops: 0 }, fusion: "rrf" })).hits, "offices.json")).toBeGreaterThan(30);
    const weightless = await search({ graph: { hops: 2, weight: 0 } });
    const plain = await search({ graph: { hops: 0 } });
    expect(weightless.hits.map(({ score }) => score)).toEqual(plain.hits.map(({ score }) => score));
  });

  it("graph options are validated: at the limits and one past them", async () => {
    for (const graph of [{ hops: 3 }, { limit: 0 }, { limit: 100 }, { weight: 1 }])
      await expect(search({ graph })).resolves.toBeDefined();
    for (const graph of [{ hops: -1 }, { hops: 4 }, { hops: 1.5 }, { limit: -1 }, { limit: 101 }, { weight: 1.1 }])
      await expect(search({ graph })).rejects.toMatchObject({
        code: "INVALID",
        detail: expect.stringMatching(/^graph\./),
      });
    await expect(search({ mode: "graph", graph: { hops: 0 } })).rejects.toMatchObject({ code: "INVALID" });
    await expect(search({ mode: "vector", graph: { hops: 1 } })).rejects.toMatchObject({ code: "INVALID" });
    await expect(search({ mode: "graph", as_of: new Date().toISOString() })).rejects.toMatchObject({ code: "INVALID" });
    expect((await search({ graph: { hops: 2, limit: 3 } })).graph?.edges).toHaveLength(3);
  });

  it("a replaced document is reached in its current version, a deleted one not at all; a collection without triples answers as before", async () => {
    const own = await newPlace(test);
    const ask = async () =>
      test.knowledge.search.run(own.caller, {
        query: "Ada Lovelace",
        mode: "graph",
        graph: { hops: 2 },
        collections: [{ repository: own.repository, collection: own.collection }],
      });
    await uploaded(own, "plain.txt", "Ada Lovelace wrote notes.");
    expect(await ask()).toMatchObject({ hits: [], graph: { entities: [], edges: [] } });
    const { document_id } = await uploaded(own, "people.csv", "name,city\nAda Lovelace,London\n");
    expect((await ask()).hits.map(({ text }) => text)).toEqual([expect.stringContaining("London")]);
    await uploaded(own, "people.csv", "name,city\nAda Lovelace,Paris\n", { replace: true });
    const replaced = await ask();
    expect(replaced.hits.map(({ text }) => text)).toEqual([expect.stringContaining("Paris")]);
    expect(JSON.stringify(replaced.graph)).not.toContain("London");
    await test.knowledge.documents.delete(own.caller, own.repository, own.collection, document_id);
    expect(await ask()).toMatchObject({ hits: [], graph: { entities: [], edges: [] } });
  });

  it("other graphs are invisible: of another workspace, another user's private collection, a caller without access", async () => {
    const secret = await newPlace(test, "Secret");
    await test.knowledge.collections.update(secret.caller, secret.repository, secret.collection, { private: true });
    await uploaded(secret, "secret.csv", "name,code\nAda Lovelace,tangerine\n");
    const ask = (caller: Place["caller"]) =>
      test.knowledge.search.run(caller, { query: "Ada Lovelace", mode: "graph", graph: { hops: 3 } });
    expect(JSON.stringify(await ask(test.admin))).toContain("tangerine");
    for (const caller of [test.as("eve"), test.pinakes.as({ tenant: "other", userId: "root", role: "admin" })]) {
      expect(JSON.stringify(await ask(caller))).not.toContain("tangerine");
      const named = {
        query: "Ada Lovelace",
        mode: "graph" as const,
        collections: [{ repository: secret.repository, collection: secret.collection }],
      };
      await expect(test.knowledge.search.run(caller, named)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });
});
