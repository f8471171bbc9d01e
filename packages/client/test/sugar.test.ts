/** What adapters of frameworks are built on: a search as a tool, flat citations, and any number of rows. */
import { beforeAll, describe, expect, it } from "vitest";
import { addRows, citedMetadata, NotFoundError, removeRows, searchTool, type PinakesClient } from "../src/index.ts";
import { openWorld } from "./support/worlds.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

describe.each([
  ["sqlite", "embedded"],
  ["sqlite", "http"],
] as const)("on %s, %s", (engine, via) => {
  let client: PinakesClient;
  const at = "me/notes";
  const world = forAllTests(() => openWorld(engine, via));
  beforeAll(async () => {
    client = await world.client();
    await client.collections.create({ repository: "me", collection_id: "notes", name: "Notes" });
    const body = "# Travel\n\nAda prefers trains to planes.\n";
    await client.documents.upload(at, { name: "ada.md", body, metadata: { person: "ada" } }, { wait: true });
    await client.documents.upload(at, { name: "bob.md", body: "# Travel\n\nBob flies.\n" }, { wait: true });
  });

  it("a search as a tool answers with citations that can be verified", async () => {
    const { name, inputSchema, run } = searchTool(client, { in: at, filter: { person: "ada" }, limit: 3, limitMax: 8 });
    expect(name).toBe("search_knowledge");
    expect(inputSchema.properties.limit.maximum).toBe(8);
    const { outcome, results } = await run({ query: "how does Ada travel?", limit: null });
    expect(outcome).toBe("ok");
    expect(results).toMatchObject([
      { filename: "ada.md", quote: expect.stringContaining("trains"), metadata: { person: "ada" }, version: 1 },
    ]);
    expect(await client.verifyCitations(results)).toMatchObject([{ valid: true, result: "exact" }]);
    const both = searchTool(client, { in: at, min_score: 0 });
    expect((await both.run({ query: "travel" })).results).toHaveLength(2);
    expect((await both.run({ query: "travel", limit: 1 })).results).toHaveLength(1);
    expect(await searchTool(client, { in: { repository: "me" } }).run({ query: "zxqv blorp quetzal" })).toEqual({
      outcome: "no_match",
      results: [],
    });
  });

  it("what a model must not ask for is refused, and the filter is not the model's to change", async () => {
    const { run } = searchTool(client, { in: at, filter: { person: "ada" }, limitMax: 4, min_score: 0 });
    for (const input of [
      {},
      null,
      "travel",
      { query: "" },
      { query: 7 },
      { query: "a", limit: 5 },
      { query: "a", limit: 0.5 },
    ])
      await expect(run(input)).rejects.toMatchObject({ code: "INVALID" });
    const { results } = await run({ query: "travel", filter: {}, in: "me/other" });
    expect(results.map(({ filename }) => filename)).toEqual(["ada.md"]);
    expect(() => searchTool(client, { limit: 9, limitMax: 8 })).toThrow("limit: must be a whole number from 1 to 8");
    await expect(searchTool(client, { in: "me/none" }).run({ query: "a" })).rejects.toSatisfy(NotFoundError.isInstance);
  });

  it("a hit's citation beside its metadata can be verified, and a row keeps the names that its own metadata gives", async () => {
    const [hit] = (await client.search("how does Ada travel?", { in: at })).hits;
    if (hit === undefined) throw new Error("no hit");
    const flat = citedMetadata(hit);
    expect(flat).toMatchObject({ person: "ada", filename: "ada.md", start: hit.citation.start, score: hit.score });
    expect(await client.verifyCitations([flat])).toMatchObject([{ result: "exact" }]);

    await addRows(
      client,
      "me/rows",
      [{ id: "r", vector: [1, 0], text: "Quokkas", metadata: { filename: "q.pdf", page: 3 } }],
      {
        create: true,
      },
    );
    const [row] = (await client.search("Quokkas", { in: "me/rows", mode: "keyword" })).hits.map(citedMetadata);
    expect(row).toMatchObject({ row_id: "r", document_id: "", filename: "q.pdf", page: 3, quote: "Quokkas" });
    expect(await client.verifyCitations(row === undefined ? [] : [row])).toMatchObject([{ result: "exact" }]);
  });

  it("rows are added in as many calls as they need, in a collection that is created, and removed by ids and by filter", async () => {
    const there = "me/many";
    const rows = Array.from({ length: 2_500 }, (_, i) => ({
      id: `r${i}`,
      vector: [Math.sin(i), Math.cos(i), 0.1],
      metadata: { kind: i % 100 === 0 ? "kept" : "gone" },
    }));
    await expect(addRows(client, there, rows)).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(removeRows(client, there, { ids: ["r1"] })).rejects.toSatisfy(NotFoundError.isInstance);
    await addRows(client, there, rows, { create: true });
    const count = async () => (await client.vectors.manifest(there)).rows?.count;
    expect(await count()).toBe(2_500);
    await addRows(client, there, rows);
    expect(await count()).toBe(2_500);
    await removeRows(client, there, { ids: rows.slice(1, 1_101).map(({ id }) => id) });
    expect(await count()).toBe(1_400);
    await expect(removeRows(client, there, { filter: {} })).rejects.toMatchObject({ code: "INVALID" });
    await removeRows(client, there, { filter: { kind: "gone" } });
    expect(await count()).toBe(14);
    await client.collections.create({ repository: "me", collection_id: "empty", name: "Empty" });
    await removeRows(client, "me/empty", { ids: ["r1"] });
    await removeRows(client, "me/empty", { filter: { kind: "gone" } });
  });
});
