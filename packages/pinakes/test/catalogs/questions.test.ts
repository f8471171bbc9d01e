/** Which catalog a session asks, and the four answers that have no sources. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { open } from "../../src/open.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import type { TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { catalogWorld, type CatalogWorld } from "./support/catalog-world.ts";

const engines = knowledgeEngines().filter(([name]) => name !== "DynamoDB");
const cases = engines.flatMap(([name, openOn]) =>
  (["embedded", "http"] as const).map((via) => ({ name, openOn, via })),
);

describe.each(cases)("questions to catalogs on $name, $via", ({ openOn, via }) => {
  let test: TestPinakes;
  let world: CatalogWorld;
  beforeAll(async () => {
    test = await openOn();
    world = await catalogWorld(test.pinakes, via);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await test?.[Symbol.asyncDispose]();
  });

  it("R-KB-31 R-KB-33 K2 a session has no catalog at first, keeps the one it selects, and is independent of others", async () => {
    const one = await world.user("ann-1", { session: "one" });
    const two = await world.user("ann-1", { session: "two" });
    const bob = await world.user("bob-1", { session: "one" });
    const trains = await one.catalog("Trains", { "trains.txt": "Ada prefers trains to planes." });
    const food = await one.catalog("Food", { "food.txt": "Ada eats no mushrooms." });
    const query = { query: "What does Ada prefer or eat?" };
    expect(await one.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
    const before = Date.now();
    const selected = await one.ok("select_catalog", { catalog_id: trains });
    expect(selected).toMatchObject({ active: true, catalog_id: trains, document_count: 1 });
    expect(selected["selected_at"]).toBeGreaterThanOrEqual(before);
    expect(await one.ok("query_catalog", query)).toMatchObject({
      catalog_id: trains,
      sources: [{ filename: "trains.txt" }],
    });
    expect(await two.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
    expect(await bob.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
    await two.ok("select_catalog", { catalog_id: food });
    expect(await two.ok("query_catalog", query)).toMatchObject({ sources: [{ filename: "food.txt" }] });
    expect(await one.ok("query_catalog", query)).toMatchObject({ sources: [{ filename: "trains.txt" }] });
    // A catalog that is named is asked, and changes nothing of the selection.
    expect(await one.ok("query_catalog", { ...query, catalog_id: food })).toMatchObject({ catalog_id: food });
    expect(await one.ok("query_catalog", query)).toMatchObject({ catalog_id: trains });
    await one.ok("select_catalog", { catalog_id: food });
    expect(await one.ok("query_catalog", query)).toMatchObject({ catalog_id: food });
    expect(await one.refused("select_catalog", { catalog_id: "nothing" })).toBe("CATALOG_NOT_FOUND");
    expect(await one.ok("query_catalog", query)).toMatchObject({ catalog_id: food });
    expect(await one.ok("select_catalog", { catalog_id: "none" })).toMatchObject({ active: false });
    expect(await one.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
    await one.ok("select_catalog", { catalog_id: "none" });
  });

  it("R-KB-33 deleting the selected catalog deselects it, in every session", async () => {
    const one = await world.user("ann-2", { session: "one" });
    const two = await world.user("ann-2", { session: "two" });
    const id = await one.catalog("Short", { "a.txt": "Some words." });
    for (const session of [one, two]) await session.ok("select_catalog", { catalog_id: id });
    await one.ok("delete_catalog", { catalog_id: id, confirm: true });
    for (const session of [one, two])
      expect(await session.refused("query_catalog", { query: "words" })).toBe("NO_CATALOG_SELECTED");
    const slot = test.pinakes.catalogSelections.slot(test.as("ann-2"), "two");
    expect(await slot.get()).toBeNull();
  });

  it("without a session nothing can be selected, and a question names its catalog", async () => {
    const ann = await world.user("ann-3", { session: null });
    const id = await ann.catalog("Named", { "a.txt": "Some words about harbours." });
    expect(await ann.refused("select_catalog", { catalog_id: id })).toBe("NO_SESSION");
    expect(await ann.refused("query_catalog", { query: "harbours" })).toBe("NO_CATALOG_SELECTED");
    expect(await ann.ok("query_catalog", { query: "harbours", catalog_id: id })).toMatchObject({ result_count: 1 });
  });

  it("R-KB-45 no catalog, an empty one and nothing relevant are different answers; sources have name, text, score and link", async () => {
    const ann = await world.user("ann-4");
    const empty = await ann.catalog("Empty");
    const full = await ann.catalog("Full", {
      "harbours.md": `# Harbours\n\n${"The harbour of Split is on the Adriatic coast. ".repeat(30)}`,
    });
    const query = { query: "Where is the harbour of Split?" };
    expect(await ann.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
    expect(await ann.refused("select_catalog", { catalog_id: empty })).toBe("CATALOG_EMPTY");
    expect(await ann.refused("query_catalog", { ...query, catalog_id: empty })).toBe("CATALOG_EMPTY");
    const nothing = await ann.ok("query_catalog", { query: "zyxgrble fnord quux", catalog_id: full });
    expect(nothing).toMatchObject({ sources: [], result_count: 0 });
    const { sources } = await ann.ok("query_catalog", { ...query, catalog_id: full, num_results: 20 });
    const found = sources as readonly JsonObject[];
    const [source] = found;
    expect(source).toMatchObject({ index: 1, filename: "harbours.md", uri: expect.stringContaining("/content") });
    const lengths = found.map(({ text }) => (text as string).length);
    expect(Math.max(...lengths)).toBe(500);
    expect(source?.["score"]).toBeGreaterThan(0);
    expect(source?.["score"]).toBeLessThanOrEqual(1);
  });

  it("R-KB-41 5 sources unless said otherwise, at most 20 with a note; 0, negative and broken numbers are refused", async () => {
    const ann = await world.user("ann-5");
    const files = Object.fromEntries(
      Array.from({ length: 24 }, (_, i) => [`harbour ${i}.txt`, `Harbour ${i} has ${i} ships.`]),
    );
    const catalog_id = await ann.catalog("Harbours", files);
    const query = { catalog_id, query: "How many ships are in the harbour?" };
    expect((await ann.ok("query_catalog", query))["result_count"]).toBe(5);
    expect((await ann.ok("query_catalog", { ...query, num_results: 1 }))["result_count"]).toBe(1);
    const most = await ann.ok("query_catalog", { ...query, num_results: 20 });
    expect(most).toMatchObject({ result_count: 20, notes: [] });
    const more = await ann.call("query_catalog", { ...query, num_results: 21 });
    expect(more.metadata).toMatchObject({ result_count: 20, notes: [expect.stringContaining("at most 20")] });
    expect(more.content[0]?.text).toContain("at most 20");
    for (const num_results of [0, -1, 1.5, "5", null])
      expect(await ann.refused("query_catalog", { ...query, num_results })).toBe("INVALID_INPUT");
    for (const question of ["", "  ", "x".repeat(10_001), 5])
      expect(await ann.refused("query_catalog", { catalog_id, query: question })).toBe("INVALID_INPUT");
  });
});

it("R-KB-49 of 100 documents the one that answers is found", async () => {
  const [, openOn] = engines[0] as (typeof engines)[number];
  await using test = await openOn();
  await using world = await catalogWorld(test.pinakes, "embedded");
  const ann = await world.user("ann");
  const files = Array.from({ length: 99 }, (_, i) => [`harbour ${i}.txt`, `Harbour ${i} has ${i} ships.`] as const);
  const catalog_id = await ann.catalog("Hundred", {
    ...Object.fromEntries(files),
    "ada.txt": "Ada prefers trains to planes.",
  });
  const { sources } = await ann.ok("query_catalog", { catalog_id, query: "How does Ada like to travel?" });
  expect((sources as readonly JsonObject[])[0]).toMatchObject({ filename: "ada.txt" });
});

describe.each(engines)("selections on %s", (_name, openOn) => {
  it("R-KB-32 two server processes have one selection, and a restart keeps it for the session", async () => {
    await using test = await openOn();
    let id: string;
    {
      await using other = await open(test.stores);
      await using here = await catalogWorld(test.pinakes, "embedded");
      await using there = await catalogWorld(other, "embedded");
      // A round robin: the same session, now here, now there.
      const ann = [await here.user("ann"), await there.user("ann")] as const;
      id = await ann[0].catalog("Shared", { "a.txt": "Words about harbours." });
      const next = await ann[1].catalog("Next", { "b.txt": "Words about mountains." });
      const query = { query: "words about harbours and mountains" };
      await ann[0].ok("select_catalog", { catalog_id: id });
      for (const session of ann) expect(await session.ok("query_catalog", query)).toMatchObject({ catalog_id: id });
      await ann[1].ok("select_catalog", { catalog_id: next });
      for (const session of ann) expect(await session.ok("query_catalog", query)).toMatchObject({ catalog_id: next });
      await ann[0].ok("select_catalog", { catalog_id: "none" });
      for (const session of ann) expect(await session.refused("query_catalog", query)).toBe("NO_CATALOG_SELECTED");
      await ann[1].ok("select_catalog", { catalog_id: id });
    }
    await using again = await open(test.stores);
    const slot = again.catalogSelections.slot(test.as("ann"), "s1");
    expect((await slot.get())?.catalog_id).toBe(id);
  });

  it("R-KB-32 a selection expires a day after its session was last used, and its id is nobody else's", async () => {
    let offsetMs = 0;
    await using test = await openOn({ clock: { now: () => Date.now() + offsetMs } });
    const { catalogSelections } = test.pinakes;
    const slot = catalogSelections.slot(test.as("ann"), "one");
    const selection = { catalog_id: "c1", selected_at: 5 };
    await slot.set(selection);
    expect(await slot.get()).toEqual(selection);
    for (const caller of [test.as("bob"), test.as("ann", { tenant: "elsewhere" })])
      expect(await catalogSelections.slot(caller, "one").get()).toBeNull();
    // Used every 20 hours, for a week.
    for (let i = 0; i < 8; i += 1) {
      offsetMs += 20 * 3_600_000;
      expect(await slot.get()).toEqual(selection);
    }
    offsetMs += 25 * 3_600_000;
    expect(await slot.get()).toBeNull();
    for (const id of ["", "x".repeat(257)])
      expect(() => catalogSelections.slot(test.as("ann"), id)).toThrow("1–256 characters");
    await catalogSelections.slot(test.as("ann"), "x".repeat(256)).clear();
  });

  it("R-KB-45 a catalog that is still being indexed says so, until it answers", async () => {
    await using idle = await openOn({ background: false });
    await using world = await catalogWorld(idle.pinakes, "embedded");
    const ann = await world.user("ann");
    const { catalog_id } = await ann.ok("create_catalog", { catalog_name: "Busy" });
    await ann.upload(catalog_id as string, "harbours.txt", "Words about harbours.");
    const { status, metadata } = await ann.call("query_catalog", { catalog_id, query: "harbours" });
    expect({ status, ...metadata }).toMatchObject({
      status: "error",
      error_code: "INDEXING_IN_PROGRESS",
      documents_in_progress: 1,
    });
    expect(await ann.ok("get_indexing_status", { catalog_id })).toMatchObject({
      overall_status: "indexing",
      counts: { pending: 1 },
    });
    await using working = await open(idle.stores);
    await using there = await catalogWorld(working, "embedded");
    const later = await there.user("ann");
    await later.settled(catalog_id as string);
    expect(await later.ok("query_catalog", { catalog_id, query: "harbours" })).toMatchObject({ result_count: 1 });
  });
});
