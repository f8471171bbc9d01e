/** Which triples stay when documents are added, changed and removed. After each step the graph is compared with one built from scratch. */
import { describe, expect, it } from "vitest";
import {
  engines,
  newPlace,
  openTestPinakes,
  settled,
  upload,
  uploaded,
  type Place,
} from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { actualSupports, expectedSupports, triplesOf } from "./support/graph-oracle.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("the graph of documents on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  const keyed = async (): Promise<Place> => {
    const place = await newPlace(test);
    await test.knowledge.collections.update(place.caller, place.repository, place.collection, {
      graph: { extract: "structured", key: "name" },
    });
    return place;
  };
  const sound = async (place: Place): Promise<string[]> => {
    expect(await actualSupports(test.pinakes, place)).toEqual(await expectedSupports(test.pinakes, place));
    return triplesOf(test.pinakes, place);
  };
  const about = (triples: readonly string[], property: string) =>
    triples.filter((line) => line.includes(`<p/${property}>`));

  it("R-TG-129 deleting a document removes what it alone supports; shared statements stay, and unreferenced entities are removed", async () => {
    const place = await keyed();
    const first = await uploaded(place, "a.csv", "name,city\nAda,London\nBob,Paris\n");
    const second = await uploaded(place, "b.csv", "name,city\nAda,London\nCid,Rome\n");
    expect(first.graph).toEqual({ triples: 8 });
    expect(about(await sound(place), "city")).toEqual([
      '<e/ada> <p/city> "London"',
      '<e/bob> <p/city> "Paris"',
      '<e/cid> <p/city> "Rome"',
    ]);
    await test.knowledge.documents.delete(place.caller, place.repository, place.collection, first.document_id);
    const left = await sound(place);
    expect(about(left, "city")).toEqual(['<e/ada> <p/city> "London"', '<e/cid> <p/city> "Rome"']);
    expect(left.join("\n")).not.toMatch(/bob|Paris|t\/a>/);
    await test.knowledge.documents.delete(place.caller, place.repository, place.collection, second.document_id);
    expect(await sound(place)).toEqual([]);
    const { incarnation } = await test.knowledge.collections.get(place.caller, place.repository, place.collection);
    expect(await test.pinakes.triples.usage(place.caller.scope, incarnation)).toEqual({
      quads: 0,
      supports: 0,
      terms: 0,
    });
  });

  it("R-TG-131 the same document again gives the same triples and supports them once; a changed one replaces its statements", async () => {
    const place = await keyed();
    const sent = await uploaded(place, "a.csv", "name,city\nAda,London\nBob,Paris\n");
    const before = await sound(place);
    await test.knowledge.documents.reindex(place.caller, place.repository, place.collection, sent.document_id);
    await settled(place, sent.document_id);
    await until(
      async () => (await actualSupports(test.pinakes, place)).every((line) => line.includes(".2.1 #")) || undefined,
    );
    expect(await sound(place)).toEqual(before);
    await uploaded(place, "a.csv", "name,city\nAda,London\nBob,Oslo\n", { replace: true });
    await until(
      async () => (await actualSupports(test.pinakes, place)).every((line) => line.includes(".3.1 #")) || undefined,
    );
    expect(about(await sound(place), "city")).toEqual(['<e/ada> <p/city> "London"', '<e/bob> <p/city> "Oslo"']);
    // From scratch: names do not depend on the run that created them.
    const { collection_id: other } = await test.knowledge.collections.create(place.caller, place.repository, {
      name: "Other",
      graph: { extract: "structured", key: "name" },
    });
    const again = { ...place, collection: other };
    await uploaded(again, "a.csv", "name,city\nAda,London\nBob,Paris\n");
    expect(await sound(again)).toEqual(before);
  });

  it("R-TG-128 a re-index of the collection moves the support to the new chunks, and leaves none of the old", async () => {
    const place = await keyed();
    const rows = Array.from({ length: 40 }, (_, i) => `Person ${i},City ${i % 7}`).join("\n");
    await uploaded(place, "many.csv", `name,city\n${rows}\n`);
    const page = await uploaded(
      place,
      "page.md",
      `---\ntitle: Page\n---\n${"Some words. ".repeat(40)}See [[Other]].\n`,
    );
    const before = await sound(place);
    const change = { chunking_strategy: { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 } };
    await test.knowledge.collections.update(place.caller, place.repository, place.collection, change);
    const { job_id } = await test.knowledge.collections.reindex(place.caller, place.repository, place.collection);
    await until(async () =>
      (await test.knowledge.jobs.get(place.caller, job_id)).status === "succeeded" ? true : undefined,
    );
    expect(await sound(place)).toEqual(before);
    const supports = await actualSupports(test.pinakes, place);
    expect(supports.every((line) => /\.1\.2 #/.test(line))).toBe(true);
    expect(new Set(supports.map((line) => line.slice(line.lastIndexOf("#")))).size).toBeGreaterThan(3);
    await test.knowledge.documents.delete(place.caller, place.repository, place.collection, page.document_id);
    expect((await sound(place)).join("\n")).not.toContain("page");
  });

  it("changed settings apply from the next ingestion: off removes, and a re-index updates everything", async () => {
    const place = await keyed();
    await uploaded(place, "a.csv", "name,city\nAda,London\n");
    await test.knowledge.collections.update(place.caller, place.repository, place.collection, {
      graph: { extract: "off" },
    });
    expect((await triplesOf(test.pinakes, place)).length).toBeGreaterThan(0);
    const silent = await uploaded(place, "b.csv", "name,city\nBob,Paris\n");
    expect(silent.graph).toBeNull();
    const { job_id } = await test.knowledge.collections.reindex(place.caller, place.repository, place.collection);
    await until(async () =>
      (await test.knowledge.jobs.get(place.caller, job_id)).status === "succeeded" ? true : undefined,
    );
    expect(await sound(place)).toEqual([]);
  });

  it("a document that cannot be parsed fails with the line, and leaves nothing in the graph", async () => {
    const place = await newPlace(test);
    const failed = await uploaded(place, "broken.ttl", "@prefix e: <http://e.org/> .\ne:a e:b e:c .\ne:a e:b .\n");
    expect(failed).toMatchObject({ status: "failed", error: expect.stringMatching(/^Line 3 of the Turtle document/) });
    expect(await sound(place)).toEqual([]);
    const { document_id } = await upload(place, "broken.ttl", "@prefix e: <http://e.org/> .\ne:a e:b e:c .\n", {
      replace: true,
    });
    await settled(place, document_id);
    expect(await sound(place)).toEqual(["<http://e.org/a> <http://e.org/b> <http://e.org/c>"]);
  });
});
