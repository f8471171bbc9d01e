/** What the passages of a document state: all of it, nothing of other documents, page by page. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookedThroughTriplesMax } from "../../src/knowledge/documents/document-triples.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { body, engines, newPlace, openTestPinakes, uploaded, walk, type Place, type TestPinakes } from "./support/test-pinakes.ts";

describe.each(engines)("the triples of a document, on %s", (engine) => {
  let test: TestPinakes;
  beforeAll(async () => {
    test = await openTestPinakes(engine);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const statement = (n: number) => `<urn:s:${String(n).padStart(5, "0")}> <urn:p> <urn:o> .\n`;
  const statements = (from: number, count: number) => Array.from({ length: count }, (_, i) => statement(from + i)).join("");
  const page = (place: Place, id: string, query: object = {}) => test.knowledge.documentTriples(place.caller, place.repository, place.collection, id, query);
  const all = async (place: Place, id: string, limit = 100) =>
    (await walk((cursor) => page(place, id, { limit, cursor }))).map(({ s }) => Number(s.value.slice("urn:s:".length)));
  const load = (place: Place, text: string) =>
    test.knowledge.graph.loadTriples(place.caller, place.repository, place.collection, { format: "ntriples", body: body(text) });

  it("R-TG-128 are those that its passages state, each with these passages; those of others and asserted ones are not among them", async () => {
    const place = await newPlace(test);
    const strategy = { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 };
    await test.knowledge.updateCollection(place.caller, place.repository, place.collection, { chunking_strategy: strategy });
    const one = await uploaded(place, "one.nt", `${statements(0, 12)}${statement(3)}`);
    const two = await uploaded(place, "two.nt", statements(10, 5));
    await load(place, `${statements(0, 2)}${statements(100, 3)}`);
    const none = await uploaded(place, "none.txt", "words without a graph");
    const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
    expect((await all(place, one.document_id)).toSorted((a, b) => a - b)).toEqual(from(0, 12));
    expect((await all(place, two.document_id, 2)).toSorted((a, b) => a - b)).toEqual(from(10, 5));
    expect(await page(place, none.document_id)).toEqual({ items: [], next_cursor: null });
    const { items: passages } = await test.knowledge.passages(place.caller, place.repository, place.collection, one.document_id, { limit: 100 });
    const stated = (await page(place, one.document_id, { limit: 100 })).items;
    for (const { s, passages: saying } of stated) {
      expect(saying.length).toBeGreaterThan(0);
      for (const { chunk_id, index } of saying) expect(passages[index]).toMatchObject({ chunk_id, index, text: expect.stringContaining(s.value) });
    }
    expect(stated.find(({ s }) => s.value === "urn:s:00003")?.passages).toHaveLength(2);
  });

  it("R-TG-129 follow the document: a new version has its own, and a deleted one is not found", async () => {
    const place = await newPlace(test);
    const { document_id } = await uploaded(place, "a.nt", statements(0, 3));
    expect(await all(place, document_id)).toHaveLength(3);
    const before = await page(place, document_id, { limit: 1 });
    await uploaded(place, "a.nt", statements(2, 2), { replace: true });
    expect((await all(place, document_id)).toSorted()).toEqual([2, 3]);
    // A place among triples of a version that is not shown any more.
    await failure(page(place, document_id, { cursor: before.next_cursor }), "INVALID");
    await test.knowledge.deleteDocument(place.caller, place.repository, place.collection, document_id);
    await failure(page(place, document_id), "NOT_FOUND");
  });

  it("R-TG-104 an answer looks at 2,000 triples: at the limit all is told at once, one past it there is a cursor; a wrong cursor or limit is refused", async () => {
    const place = await newPlace(test);
    const { document_id } = await uploaded(place, "last.nt", statement(99_999));
    await load(place, statements(0, lookedThroughTriplesMax - 1));
    expect(await page(place, document_id, { limit: 100 })).toMatchObject({ items: [{ s: { value: "urn:s:99999" } }], next_cursor: null });
    await load(place, statements(lookedThroughTriplesMax, 1));
    const first = await page(place, document_id, { limit: 100 });
    expect(first.next_cursor).not.toBeNull();
    expect(await all(place, document_id)).toEqual([99_999]);
    const other = await uploaded(place, "other.nt", statement(88_888));
    await failure(page(place, other.document_id, { cursor: first.next_cursor }), "INVALID");
    for (const limit of [0, 101]) await failure(page(place, document_id, { limit }), "INVALID");
  });
});
