/** The triples that a document's chunks state: all of them, none of other documents, page by page. */
import { describe, expect, it, vi } from "vitest";
import { lookedThroughTriplesMax } from "../../src/knowledge/documents/document-triples.ts";
import { labelsGraph } from "../../src/knowledge/extraction/index.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { body, engines, newPlace, openTestPinakes, uploaded, walk, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("the triples of a document, on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  const statement = (n: number) => `<urn:s:${String(n).padStart(5, "0")}> <urn:p> <urn:o> .\n`;
  const statements = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => statement(from + i)).join("");
  const page = (place: Place, id: string, query: object = {}) =>
    test.knowledge.documents.triples(place.caller, place.repository, place.collection, id, query);
  const all = async (place: Place, id: string, limit = 100) =>
    (await walk((cursor) => page(place, id, { limit, cursor }))).map(({ s }) => Number(s.value.slice("urn:s:".length)));
  const load = (place: Place, text: string) =>
    test.knowledge.graph.loadTriples(place.caller, place.repository, place.collection, {
      format: "ntriples",
      body: body(text),
    });

  it("R-TG-128 are those that its chunks state, each with these chunks; foreign and asserted ones are excluded", async () => {
    const place = await newPlace(test);
    const strategy = { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 };
    await test.knowledge.collections.update(place.caller, place.repository, place.collection, {
      chunking_strategy: strategy,
    });
    const one = await uploaded(place, "one.nt", `${statements(0, 12)}${statement(3)}`);
    const two = await uploaded(place, "two.nt", statements(10, 5));
    await load(place, `${statements(0, 2)}${statements(100, 3)}`);
    const none = await uploaded(place, "none.txt", "words without a graph");
    const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
    expect((await all(place, one.document_id)).toSorted((a, b) => a - b)).toEqual(from(0, 12));
    expect((await all(place, two.document_id, 2)).toSorted((a, b) => a - b)).toEqual(from(10, 5));
    expect(await page(place, none.document_id)).toEqual({ items: [], next_cursor: null });
    const { items: passages } = await test.knowledge.documents.passages(
      place.caller,
      place.repository,
      place.collection,
      one.document_id,
      { limit: 100 },
    );
    const stated = (await page(place, one.document_id, { limit: 100 })).items;
    for (const { s, passages: saying } of stated) {
      expect(saying.length).toBeGreaterThan(0);
      for (const { chunk_id, index } of saying)
        expect(passages[index]).toMatchObject({ chunk_id, index, text: expect.stringContaining(s.value) });
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
    // A cursor of a version that is no longer live.
    await failure(page(place, document_id, { cursor: before.next_cursor }), "INVALID");
    await test.knowledge.documents.delete(place.caller, place.repository, place.collection, document_id);
    await failure(page(place, document_id), "NOT_FOUND");
  });

  it("R-TG-104 a page is full and ends with the document, however many other triples the collection has; a wrong cursor or limit is refused", async () => {
    const place = await newPlace(test);
    await load(place, statements(0, 3_000));
    const { document_id } = await uploaded(place, "last.nt", statements(99_990, 10));
    expect(await page(place, document_id, { limit: 10 })).toMatchObject({
      items: Array.from({ length: 10 }, () => ({ p: { value: "urn:p" } })),
      next_cursor: null,
    });
    const first = await page(place, document_id, { limit: 9 });
    expect(first.items).toHaveLength(9);
    const rest = await page(place, document_id, { limit: 9, cursor: first.next_cursor });
    expect([rest.items.length, rest.next_cursor]).toEqual([1, null]);
    expect((await all(place, document_id, 3)).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => 99_990 + i));
    const other = await uploaded(place, "other.nt", statement(88_888));
    await failure(page(place, other.document_id, { cursor: first.next_cursor }), "INVALID");
    for (const limit of [0, 101]) await failure(page(place, document_id, { limit }), "INVALID");
  });

  it("R-TG-128 leave out labels; a page reads 2,000 of both, and one more needs a cursor", async () => {
    const place = await newPlace(test);
    const label = '<urn:s:00001> <http://www.w3.org/2000/01/rdf-schema#label> "Grace Brewster Hopper" .\n';
    const { document_id } = await uploaded(place, "named.nt", `${label}${statement(1)}`);
    const { incarnation } = await test.knowledge.collections.get(place.caller, place.repository, place.collection);
    const source = `${document_id}.1.1`;
    const { triples } = test.pinakes;
    const stored = (await triples.ofSource(place.caller.scope, incarnation, source)).quads;
    const hidden = stored.filter(({ quad }) => quad.g === labelsGraph).length;
    expect([stored.length - hidden, hidden > 1]).toEqual([2, true]);
    for (const limit of [1, 2, 100]) {
      const shown = await walk((cursor) => page(place, document_id, { limit, cursor }));
      expect(shown.map(({ p }) => p.value).toSorted()).toEqual(["http://www.w3.org/2000/01/rdf-schema#label", "urn:p"]);
    }
    const more = (from: number, count: number) =>
      triples.write(place.caller.scope, incarnation, {
        insert: Array.from({ length: count }, (_, i) => ({
          s: `<urn:hidden:${from + i}>`,
          p: "<urn:p>",
          o: '"x"',
          g: labelsGraph,
        })),
        source: { source, part: 0 },
      });
    await more(0, lookedThroughTriplesMax - stored.length);
    // However few are wanted, they are not read one by one.
    const asked = vi.spyOn(triples, "ofSource");
    const found = await walk((cursor) => page(place, document_id, { limit: 1, cursor }));
    expect(found.map(({ p }) => p.value).toSorted()).toEqual(["http://www.w3.org/2000/01/rdf-schema#label", "urn:p"]);
    expect(asked.mock.calls.length).toBeGreaterThan(2);
    expect(asked.mock.calls.length).toBeLessThan(20);
    asked.mockRestore();
    expect(await page(place, document_id, { limit: 100 })).toMatchObject({ items: [{}, {}], next_cursor: null });
    await more(lookedThroughTriplesMax, 1);
    expect((await page(place, document_id, { limit: 100 })).next_cursor).not.toBeNull();
    expect(await walk((cursor) => page(place, document_id, { limit: 100, cursor }))).toHaveLength(2);
  });
});
