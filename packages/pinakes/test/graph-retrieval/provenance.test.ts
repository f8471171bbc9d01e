/** From a triple back to its chunks, versions and people. */
import { describe, expect, it } from "vitest";
import { engines, newPlace, openTestPinakes, uploaded } from "../knowledge/support/test-pinakes.ts";
import { readRdf } from "../../src/rdf/index.ts";
import type { Quad } from "../../src/domain/rdf.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("provenance of a triple, on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  it("R-TG-128 triple → chunk → version of a document, with its position in the text; also as PROV-O that can be loaded and queried", async () => {
    const place = await newPlace(test);
    const strategy = { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 };
    await test.knowledge.collections.update(place.caller, place.repository, place.collection, {
      chunking_strategy: strategy,
    });
    const text = `<urn:a:one> <urn:p:knows> <urn:a:two> .\n${"# some words\n".repeat(20)}<urn:a:two> <urn:p:knows> <urn:a:three> .\n`;
    const first = await uploaded(place, "a.ttl", text);
    const second = await uploaded(place, "b.nt", "<urn:a:two> <urn:p:knows> <urn:a:three> .\n");
    const of = (s: string, o: string) =>
      test.knowledge.search.provenance(place.caller, place.repository, place.collection, { s, p: "urn:p:knows", o });
    const one = await of("urn:a:one", "urn:a:two");
    expect(one).toMatchObject({
      asserted: false,
      triple: { s: { type: "iri", value: "urn:a:one" }, g: null },
      sources: [{ document_id: first.document_id, version: 1, start: 0 }],
    });
    const both = await of("urn:a:two", "urn:a:three");
    expect(new Set(both.sources.map(({ filename }) => filename))).toEqual(new Set(["a.ttl", "b.nt"]));
    for (const { filename, start, end, quote } of both.sources) {
      expect((filename === "a.ttl" ? text : "<urn:a:two> <urn:p:knows> <urn:a:three> .\n").slice(start, end)).toBe(
        quote,
      );
      expect(quote).toContain("<urn:a:three>");
    }
    const quads: Quad[] = [];
    const body = (async function* () {
      yield Buffer.from(JSON.stringify(both.prov));
    })();
    for await (const batch of readRdf(body, { format: "jsonld", blankPrefix: "p" })) quads.push(...batch);
    const derived = quads.filter(({ p }) => p === "<http://www.w3.org/ns/prov#wasDerivedFrom>");
    expect(derived.filter(({ s }) => s.startsWith("<urn:pinakes:triple:"))).toHaveLength(2);
    const documents = derived.filter(({ s }) => s.startsWith("<urn:pinakes:passage:")).map(({ o }) => o);
    expect(new Set(documents)).toEqual(
      new Set([first, second].map(({ document_id }) => `<urn:pinakes:document:${document_id}:1>`)),
    );
    expect(quads.filter(({ p }) => p === "<http://www.w3.org/ns/prov#wasAttributedTo>").map(({ o }) => o)).toEqual([
      "<urn:pinakes:user:root>",
      "<urn:pinakes:user:root>",
    ]);
  });

  it("R-TG-129 follows deletes; asserted triples have no chunk, unknown and foreign ones are not found", async () => {
    const place = await newPlace(test);
    const { knowledge } = test;
    const { document_id } = await uploaded(place, "a.nt", "<urn:s> <urn:p> <urn:o> .\n");
    const triple = { s: "urn:s", p: "urn:p", o: "urn:o" };
    expect(
      (await knowledge.search.provenance(place.caller, place.repository, place.collection, triple)).sources,
    ).toHaveLength(1);
    await expect(
      knowledge.search.provenance(
        test.pinakes.as({ tenant: "other", userId: "root", role: "admin" }),
        place.repository,
        place.collection,
        triple,
      ),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(
      knowledge.search.provenance(place.caller, place.repository, place.collection, { ...triple, g: "urn:g" }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await knowledge.documents.delete(place.caller, place.repository, place.collection, document_id);
    await expect(
      knowledge.search.provenance(place.caller, place.repository, place.collection, triple),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const { incarnation } = await knowledge.collections.get(place.caller, place.repository, place.collection);
    await test.pinakes.triples.write(place.caller.scope, incarnation, {
      insert: [{ s: "<urn:s>", p: "<urn:p>", o: "<urn:o>", g: "" }],
    });
    expect(await knowledge.search.provenance(place.caller, place.repository, place.collection, triple)).toMatchObject({
      asserted: true,
      sources: [],
    });
    // Stated by a person and by a document: it is both, and stays when the document is deleted.
    const again = await uploaded(place, "b.nt", "<urn:s> <urn:p> <urn:o> .\n");
    const both = await knowledge.search.provenance(place.caller, place.repository, place.collection, triple);
    expect([both.asserted, both.sources.map((one) => one.document_id)]).toEqual([true, [again.document_id]]);
    await knowledge.documents.delete(place.caller, place.repository, place.collection, again.document_id);
    expect(await knowledge.search.provenance(place.caller, place.repository, place.collection, triple)).toMatchObject({
      asserted: true,
      sources: [],
    });
    await expect(
      knowledge.search.provenance(place.caller, place.repository, place.collection, { ...triple, p: "no iri" }),
    ).rejects.toMatchObject({ code: "INVALID" });
  });
});
