/**
 * Rows that callers embedded themselves, migrated or dropped into the box are visible wherever a collection is: counts, manifest, searches.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announceDelta } from "../../src/vectors/index.ts";
import { useServers } from "../support/servers.ts";
import { newPlace, openTestPinakes, settled, upload, type Place, type TestPinakes } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";

const { postgres } = useServers();

const sentences = [
  "The lighthouse keeper logs every ship.",
  "Zebras graze beside the river.",
  "A pump failed in the cellar.",
];
const rowsOf = (dims: number) =>
  sentences.map((text, i) => ({
    id: `r${i}`,
    vector: Array.from({ length: dims }, (_, at) => (at === i ? 1 : 0.01)),
    text,
    metadata: { source: `s${i}.csv`, n: i },
  }));

describe.each([
  ["sqlite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres() })],
] as const)("rows with vectors of one's own on %s", (engine, stores) => {
  let test: TestPinakes;
  let place: Place;
  const counts = async () => {
    const { document_count, row_count, indexing_status, etag } = await test.knowledge.collections.get(
      place.caller,
      place.repository,
      place.collection,
    );
    return { document_count, row_count, indexing_status, etag };
  };
  const find = async (query: string, more: object = {}) =>
    test.knowledge.search.run(place.caller, {
      query,
      collections: [{ repository: place.repository, collection: place.collection }],
      ...more,
    });

  beforeAll(async () => {
    const dropBoxes = [{ tenant: "acme", collection: "boxed" }];
    test = await openTestPinakes(engine === "sqlite" ? "sqlite" : "elsewhere", {
      ...stores(),
      dropBoxes,
      migrationSources: ["/"],
    });
    place = await newPlace(test);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it("are counted, have a manifest and are found with an honest citation, which can be verified", async () => {
    expect(await counts()).toMatchObject({ row_count: 0, indexing_status: "pending" });
    expect(await test.knowledge.rows.manifest(place.caller, place.repository, place.collection)).toEqual({
      stats: null,
      versions: [],
      passages: null,
      rows: null,
    });
    const before = await counts();
    await test.knowledge.rows.upsert(place.caller, place.repository, place.collection, { items: rowsOf(8) });
    expect(await counts()).toMatchObject({ document_count: 0, row_count: 3, indexing_status: "ready" });
    expect((await counts()).etag).not.toBe(before.etag);
    const { items } = await test.knowledge.collections.list(place.caller, { repositoryId: place.repository });
    expect(items.find(({ collection_id }) => collection_id === place.collection)?.row_count).toBe(3);
    const manifest = await test.knowledge.rows.manifest(place.caller, place.repository, place.collection);
    expect(manifest).toMatchObject({
      stats: { settings: { dims: 8 } },
      passages: null,
      rows: { count: 3, stats: { settings: { dims: 8 } } },
    });
    expect(manifest.versions.length).toBeGreaterThan(0);
    for (const mode of ["hybrid", "keyword"] as const) {
      const { hits } = await find("zebras", { mode });
      expect(hits[0]).toMatchObject({
        document_id: "",
        chunk_id: "r1",
        text: sentences[1],
        metadata: { source: "s1.csv", n: 1 },
      });
      expect(hits[0]?.citation).toMatchObject({
        row_id: "r1",
        document_id: "",
        filename: "",
        version: 0,
        quote: sentences[1],
      });
    }
    // Vectors of another dimension cannot be compared with the query.
    expect((await find("zebras", { mode: "vector" })).hits).toEqual([]);
    const [hit] = (await find("zebras")).hits;
    const citation = hit?.citation as NonNullable<typeof hit>["citation"];
    expect(
      await test.knowledge.search.verifyCitations(place.caller, [
        citation,
        { ...citation, quote: "other words" },
        { ...citation, row_id: "gone" },
      ]),
    ).toEqual({
      checks: [
        { valid: true, result: "exact", current: true },
        { valid: false, result: "not_in_row", current: true },
        { valid: false, result: "row_gone", current: false },
      ],
    });
    expect(
      (await test.knowledge.search.verifyCitations(test.as("eve", { tenant: "evil" }), [citation])).checks,
    ).toEqual([{ valid: false, result: "row_gone", current: false }]);
  });

  it("are ranked beside chunks, filtered by their metadata, and compared as vectors if the dimensions are the model's", async () => {
    place = await newPlace(test);
    const { document_id } = await upload(place, "zoo.txt", "The zoo keeps two zebras.");
    await settled(place, document_id);
    await test.knowledge.rows.upsert(place.caller, place.repository, place.collection, { items: rowsOf(384) });
    const { hits, explain } = await find("zebras", { explain: true });
    expect(new Set(hits.map(({ document_id: id, chunk_id }) => (id === "" ? chunk_id : id)))).toContain(document_id);
    expect(hits.map(({ chunk_id }) => chunk_id)).toContain("r1");
    expect(explain).toMatchObject({ collections: [{ passages: 1, own_rows: 3, own_rows_dims: 384 }] });
    expect(
      (await find("zebras", { mode: "vector" })).hits.filter(({ citation }) => citation.row_id !== undefined),
    ).toHaveLength(3);
    expect((await find("zebras", { filter: { n: 1 } })).hits.map(({ chunk_id }) => chunk_id)).toEqual(["r1"]);
    expect((await find("zebras", { filter: { filename: "zoo.txt" } })).hits.map(({ document_id: id }) => id)).toEqual([
      document_id,
    ]);
    expect(await find("zebras", { filter: { nowhere: 1 } })).toMatchObject({ hits: [], unknown_fields: ["nowhere"] });
    const grouped = await find("zebras", { group_by: "document", mode: "keyword" });
    expect(grouped.hits).toHaveLength(2);
    // Both, unless the background is just compacting one of them.
    expect(await test.knowledge.rows.compact(place.caller, place.repository, place.collection)).toMatchObject({
      outcome: expect.stringMatching(/^(?:done|busy)$/) as string,
      rows: { outcome: expect.stringMatching(/^(?:done|busy)$/) as string },
    });
    expect(await test.knowledge.rows.manifest(place.caller, place.repository, place.collection)).toMatchObject({
      passages: { count: 1 },
      rows: { count: 3 },
    });
  });

  it("all arrive with a migration", async () => {
    const path = join(test.dir, "moved.jsonl");
    await writeFile(
      path,
      rowsOf(8)
        .map(({ id, vector, text, metadata }) =>
          JSON.stringify({ id, values: vector, metadata: { ...metadata, body: text } }),
        )
        .join("\n"),
    );
    const { migrations } = test.pinakes;
    const source = { kind: "rows", path, repository: place.repository, text_field: "body" } as const;
    const { migration_id } = await migrations.create(test.admin, { source, auto: true });
    await until(async () => (await migrations.get(test.admin, migration_id)).state === "switched", 200);
    place = { ...place, collection: "moved" };
    expect(await counts()).toMatchObject({ document_count: 0, row_count: 3, indexing_status: "ready" });
    expect((await find("cellar pump")).hits[0]).toMatchObject({ chunk_id: "r2", citation: { row_id: "r2" } });
  });

  it("of a drop box are in a collection of the catalog, by a name alone or with its repository", async () => {
    const { objects, queue } = test.pinakes;
    const { scope } = test.admin;
    const lines = rowsOf(8)
      .map((row) => JSON.stringify(row))
      .join("\n");
    await objects.put(scope, "delta/one.jsonl", Buffer.from(lines));
    await announceDelta(queue, scope, { deltaKey: "delta/one.jsonl" });
    await announceDelta(queue, scope, { deltaKey: "delta/one.jsonl", collection: `${place.repository}/mailed` });
    const boxed: Place = { ...place, repository: "drop-box", collection: "boxed" };
    const rows = async (of: Place) =>
      (await test.knowledge.collections.get(of.caller, of.repository, of.collection).catch(() => ({ row_count: 0 })))
        .row_count;
    await until(async () => (await rows(boxed)) === 3);
    await until(async () => (await rows({ ...place, collection: "mailed" })) === 3);
    place = boxed;
    expect((await find("zebras")).hits[0]).toMatchObject({
      repository_id: "drop-box",
      collection_id: "boxed",
      chunk_id: "r1",
    });
    expect((await test.knowledge.search.run(test.as("eve", { tenant: "evil" }), { query: "zebras" })).hits).toEqual([]);
  });
});
