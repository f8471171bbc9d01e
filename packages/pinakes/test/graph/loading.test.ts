/** Loading and changing the graph of a collection: formats, syntax errors, limits, and permissions. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { graphLimits, knowledgeLimits } from "../../src/knowledge/index.ts";
import type { RdfFormat } from "../../src/rdf/index.ts";
import { openTestPinakes, upload } from "../knowledge/support/test-pinakes.ts";
import { GraphPlace } from "./support/graph-place.ts";
import { forAllTests } from "../support/for-tests.ts";

const test = forAllTests(() => openTestPinakes("sqlite"));

async function refused(attempt: Promise<unknown>): Promise<PinakesError> {
  const error: unknown = await attempt.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  return error;
}
const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `<https://e.org/s${i + from}> <https://e.org/p> "${i + from}" .\n`).join("");

describe("R-TG-120 formats", () => {
  const documents: Readonly<Record<RdfFormat, string>> = {
    turtle: '@prefix e: <https://e.org/> . e:s e:p "v"@en .',
    trig: '@prefix e: <https://e.org/> . e:g { e:s e:p "v"@en }',
    ntriples: '<https://e.org/s> <https://e.org/p> "v"@en .\n',
    nquads: '<https://e.org/s> <https://e.org/p> "v"@en <https://e.org/g> .\n',
    jsonld: '{ "@id": "https://e.org/s", "https://e.org/p": { "@value": "v", "@language": "en" } }',
    rdfxml:
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="https://e.org/"><rdf:Description rdf:about="https://e.org/s"><e:p xml:lang="en">v</e:p></rdf:Description></rdf:RDF>',
    json: '[{ "s": "https://e.org/s", "p": { "type": "iri", "value": "https://e.org/p" }, "o": { "type": "literal", "value": "v", "language": "en" } }]',
  };

  it.each(Object.entries(documents) as [RdfFormat, string][])(
    "%s is loaded, and a given graph applies to unnamed triples",
    async (format, text) => {
      const place = await GraphPlace.make(test);
      expect(await place.load(text, { format })).toEqual({ read: 1, inserted: 1 });
      const own = format === "trig" || format === "nquads" ? " <https://e.org/g>" : "";
      expect(await place.lines()).toEqual([`<https://e.org/s> <https://e.org/p> "v"@en${own}`]);
      const graphed = await GraphPlace.make(test);
      await graphed.load(text, { format, graph: "https://e.org/other" });
      expect(await graphed.lines()).toEqual([
        `<https://e.org/s> <https://e.org/p> "v"@en ${own === "" ? "<https://e.org/other>" : "<https://e.org/g>"}`,
      ]);
    },
  );

  it("R-TG-121 an export in any format with graphs, loaded elsewhere, is the same", async () => {
    const place = await GraphPlace.make(test);
    await place.load(
      '@prefix e: <https://e.org/> . e:s e:p "a\\n\\"b\\"", 1.50 , true . e:g { e:s e:q e:o } _:x { e:s e:q [ e:r "z"@de-at ] }',
      {
        format: "trig",
      },
    );
    for (const format of ["trig", "nquads", "jsonld"] as const) {
      const copy = await GraphPlace.make(test);
      expect(await copy.load(await place.text(format), { format })).toMatchObject({ read: 6, inserted: 6 });
      const plain = (all: string[]) => all.map((one) => one.replaceAll(/_:\S+/g, "_:b")).toSorted();
      expect(plain(await copy.lines()), format).toEqual(plain(await place.lines()));
    }
    expect((await refused(place.text("turtle"))).detail).toContain("Ask for TriG or N-Quads");
    expect(await place.text("ntriples", { g: "https://e.org/g" })).toBe(
      "<https://e.org/s> <https://e.org/q> <https://e.org/o> .\n",
    );
    expect((await place.text("turtle", { g: "default" })).split("\n").filter((line) => line !== "")).toHaveLength(1);
  });

  it("relative IRIs need a base", async () => {
    const place = await GraphPlace.make(test);
    expect((await place.load("<s> <p> <o> .")).errors).toMatchObject([{ line: 1 }]);
    await place.load("<s> <p> <o> .", { base_iri: "https://e.org/" });
    expect(await place.lines()).toEqual(["<https://e.org/s> <https://e.org/p> <https://e.org/o>"]);
  });
});

describe("a syntax error", () => {
  it("R-TG-120 stops the load with its line: triples before it are stored, and the answer gives their number", async () => {
    const place = await GraphPlace.make(test);
    for (const before of [0, 2, 12_000]) {
      const result = await place.load(`${lines(before)}broken\n${lines(1, 90_000)}`, { format: "ntriples" });
      expect(result).toMatchObject({
        read: before,
        errors: [
          {
            line: before + 1,
            code: "INVALID",
            detail: expect.stringContaining(`Line ${before + 1} of the N-Triples document`) as string,
          },
        ],
      });
      expect(await place.usage()).toBe(before);
    }
    const json = await place.load(
      '[{"s":"https://e.org/x","p":"https://e.org/p","o":"https://e.org/o"},\n{"s":"https://e.org/x"}]',
      { format: "json" },
    );
    expect(json).toMatchObject({ read: 1, inserted: 1, errors: [{ line: 2 }] });
  });

  it("R-TG-120 with all_or_nothing stores nothing, however much precedes it", async () => {
    const place = await GraphPlace.make(test);
    for (const before of [0, 2, 12_000]) {
      const error = await refused(place.load(`${lines(before)}broken\n`, { format: "ntriples", all_or_nothing: true }));
      expect(error).toMatchObject({ code: "INVALID" });
      expect(error.detail).toContain(`Line ${before + 1} of the N-Triples document`);
      expect(error.detail).toContain("Nothing was stored.");
      expect(await place.usage()).toBe(0);
    }
    expect(await place.load("", { all_or_nothing: true })).toEqual({ read: 0, inserted: 0, atomic: true });
  });

  it("in the options is reported before the body is read, and creates no collection", async () => {
    const { knowledge, admin } = test;
    await knowledge.repositories.create(admin, { repository_id: "auto-wrong", auto_create: true });
    const place = new GraphPlace(test, "auto-wrong", "fresh");
    const unread = (async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.reject(new Error("read"));
    })();
    for (const wrong of [{ format: "docx" as never }, { graph: "no iri" }, { graph: '"words"' }, { graph: "_:b" }])
      expect((await refused(place.load("", { body: unread, ...wrong }))).code).toBe("INVALID");
    expect((await refused(place.match())).code).toBe("NOT_FOUND");
    expect(await place.load(lines(1))).toEqual({ read: 1, inserted: 1 });
  });

  it("R-TG-102 hostile ids and terms are refused, or stored verbatim", async () => {
    const place = await GraphPlace.make(test);
    await place.load(lines(1));
    for (const id of ["../papers", "papers'--", "papers%00", "pa:pers", "рарers", "x".repeat(10_000), "", "papers\0"]) {
      const elsewhere = new GraphPlace(test, place.repository, id);
      for (const attempt of [
        () => elsewhere.match(),
        () => elsewhere.load(lines(1)),
        () => elsewhere.remove({ confirm: id }),
        () => elsewhere.rows("SELECT * { ?s ?p ?o }"),
      ])
        expect(["NOT_FOUND", "INVALID"], id).toContain((await refused(attempt())).code);
    }
    const words = "'; DROP TABLE quads; -- %_\\ \u{1F600}";
    await place.load(
      JSON.stringify([{ s: "https://e.org/h", p: "https://e.org/p", o: { type: "literal", value: words } }]),
      { format: "json" },
    );
    expect((await place.match({ o: { type: "literal", value: words } })).items).toMatchObject([
      { o: { value: words } },
    ]);
    for (const wrong of [
      { s: "no iri" },
      { s: "" },
      { o: "words" },
      { g: "x y" },
      { p: "<unclosed" },
      { o: { type: "thing" as never, value: "x" } },
      { s: { type: "iri", value: "https://e.org/a", language: "en" } as const },
      { s: 5 as never },
    ])
      expect((await refused(place.match(wrong))).code).toBe("INVALID");
    expect((await refused(place.match({ o: "words" }))).detail).toContain('put them in quotes: "words"');
    expect(await place.usage()).toBe(2);
  });
});

describe("limits, at each and one past it", () => {
  it("blank nodes of a body up to hashedBytesMax are the same each time it is sent; beyond that new ones, unless all or nothing", async () => {
    const sized = (bytes: number) => {
      const line = (words: number) => `_:b <https://e.org/p> "${"x".repeat(words)}" .\n`;
      const rest = bytes - line(30_000).length * 270 - line(0).length;
      const text =
        line(30_000).repeat(270) +
        line(0).replace('""', `"${"y".repeat(rest % 30_000)}"`) +
        "\n".repeat(rest - (rest % 30_000));
      if (Buffer.byteLength(text) !== bytes) throw new Error(`${Buffer.byteLength(text)} bytes`);
      return text;
    };
    const place = await GraphPlace.make(test);
    const at = sized(graphLimits.hashedBytesMax);
    expect(await place.load(at, { format: "ntriples" })).toMatchObject({ inserted: 2 });
    expect(await place.load(at, { format: "ntriples" })).toMatchObject({ read: 271, inserted: 0 });
    const past = sized(graphLimits.hashedBytesMax + 1);
    expect(await place.load(past, { format: "ntriples" })).toMatchObject({ inserted: 2 });
    expect(await place.load(past, { format: "ntriples" })).toMatchObject({ inserted: 2 });
    const whole = { format: "ntriples", all_or_nothing: true } as const;
    expect(await place.load(past, whole)).toMatchObject({ inserted: 2, atomic: true });
    expect(await place.load(past, whole)).toMatchObject({ inserted: 0, atomic: true });
    expect((await refused(place.load(`${past}broken`, whole))).detail).toContain("Nothing was stored.");
    // Temporary files are removed with their request.
    expect(
      readdirSync(tmpdir()).filter(
        (name) => name.startsWith("pinakes-load-") && existsSync(`${tmpdir()}/${name}/body`),
      ),
    ).toEqual([]);
  });

  it("all or nothing is one transaction up to atomicQuadsMax, and says if it is not", async () => {
    const place = await GraphPlace.make(test);
    const { atomicQuadsMax: max } = graphLimits;
    expect(test.pinakes.triples.capabilities.atomicQuadsMax).toBe(max);
    const whole = { format: "ntriples", all_or_nothing: true } as const;
    expect(await place.load(lines(max), whole)).toEqual({ read: max, inserted: max, atomic: true });
    expect(await place.load(lines(max + 1), whole)).toEqual({ read: max + 1, inserted: 1, atomic: false });
    // The same graph for one operation of an update.
    const { updateQuadsMax } = graphLimits;
    expect(await place.remove({ s: `https://e.org/s${max}` })).toBe(1);
    const copy = "INSERT { GRAPH <https://e.org/copy> { ?s ?p ?o } } WHERE { ?s ?p ?o }";
    expect(await place.sparql({ update: copy, timeout_ms: 120_000 })).toMatchObject({ inserted: updateQuadsMax });
    await place.load(lines(1, max), { format: "ntriples" });
    expect(await refused(place.sparql({ update: copy.replace("copy", "again"), timeout_ms: 120_000 }))).toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect(await place.lines({ g: "https://e.org/again" })).toEqual([]);
  });

  it("a load is written in batches of writeQuadsMax and writeCharsMax, and reports progress after each", async () => {
    const place = await GraphPlace.make(test);
    const { writeQuadsMax } = graphLimits;
    const told: number[] = [];
    const progress = ({ inserted }: { inserted: number }) => void told.push(inserted);
    await place.load(lines(writeQuadsMax), { format: "ntriples", progress });
    expect(told).toEqual([writeQuadsMax]);
    await place.load(lines(writeQuadsMax + 1, 100_000), { format: "ntriples", progress });
    expect(told.slice(1)).toEqual([writeQuadsMax, writeQuadsMax + 1]);
    told.length = 0;
    const long = () => `<https://e.org/s> <https://e.org/p> "${randomBytes(16_000).toString("hex")}" .\n`;
    const chars = `<https://e.org/s><https://e.org/p>""${"0".repeat(32_000)}`.length;
    const fit = Math.floor(graphLimits.writeCharsMax / chars);
    await place.load(Array.from({ length: fit }, long).join(""), { format: "ntriples", progress });
    expect(told).toEqual([fit]);
    await place.load(Array.from({ length: fit + 1 }, long).join(""), { format: "ntriples", progress });
    expect(told.slice(1)).toEqual([fit, fit + 1]);
  });

  it("pages, exact triples, collections, and resources of SPARQL", async () => {
    const place = await GraphPlace.make(test);
    await place.load(lines(3));
    const { pageTriplesDefault, pageTriplesMax, removedTriplesMax, sparqlTimeoutMsMax, sparqlRowsMax } = graphLimits;
    expect((await place.match({ limit: pageTriplesMax })).items).toHaveLength(3);
    for (const limit of [pageTriplesMax + 1, 0, 1.5, -1])
      expect((await refused(place.match({ limit }))).code).toBe("INVALID");
    await place.load(lines(pageTriplesDefault + 1), { format: "ntriples" });
    expect((await place.match()).items).toHaveLength(pageTriplesDefault);
    const given = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ s: `https://e.org/s${i}`, p: "https://e.org/p", o: `"${i}"` }));
    expect(await place.remove({ triples: given(removedTriplesMax) })).toBe(pageTriplesDefault + 1);
    expect((await refused(place.remove({ triples: given(removedTriplesMax + 1) }))).code).toBe("LIMIT_EXCEEDED");
    expect((await refused(place.remove({ triples: [] }))).code).toBe("INVALID");
    expect((await refused(place.remove({ triples: given(1), s: "https://e.org/s" }))).code).toBe("INVALID");
    expect(
      (
        await refused(
          place.remove({ triples: [...given(1), { s: "https://e.org/s", p: "https://e.org/p", o: "words" }] }),
        )
      ).detail,
    ).toContain("triples[1]");
    const { graphCollectionsMax } = knowledgeLimits;
    const named = (count: number) => ({
      collections: Array.from({ length: count }, () => ({
        repository: place.repository,
        collection: place.collection,
      })),
    });
    expect((await place.graph.matchAcross(test.admin, named(graphCollectionsMax))).items).toEqual([]);
    for (const count of [graphCollectionsMax + 1, 0])
      expect((await refused(place.graph.matchAcross(test.admin, named(count)))).code).toBe("INVALID");
    const query = "SELECT * { ?s ?p ?o }";
    expect(await place.rows(query, { timeout_ms: sparqlTimeoutMsMax, limit: sparqlRowsMax })).toEqual([]);
    for (const wrong of [
      { timeout_ms: sparqlTimeoutMsMax + 1 },
      { timeout_ms: 0 },
      { limit: sparqlRowsMax + 1 },
      { limit: 0 },
      { default_graph: "all" as never },
      { default_graphs: ["x y"] },
    ])
      expect((await refused(place.rows(query, wrong))).code).toBe("INVALID");
  });

  it("R-TG-125 a result with as many rows as its limit is complete; one more is an error, and so is a timeout", async () => {
    const place = await GraphPlace.make(test);
    await place.load(lines(5));
    expect(await place.rows("SELECT * { ?s ?p ?o }", { limit: 5 })).toHaveLength(5);
    expect((await refused(place.rows("SELECT * { ?s ?p ?o }", { limit: 4 }))).code).toBe("LIMIT_EXCEEDED");
    await place.load(lines(300));
    const endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
    expect((await refused(place.rows(endless, { timeout_ms: 1 }))).code).toBe("LIMIT_EXCEEDED");
    const stop = new AbortController();
    stop.abort();
    await expect(place.rows(endless, { signal: stop.signal })).rejects.toThrow(/abort/i);
    for (const wrong of [{}, { query: "ASK {}", update: "CLEAR ALL" }, { query: " " }, { update: "" }])
      expect((await refused(place.sparql(wrong))).code).toBe("INVALID");
    for (const away of ["SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"])
      expect((await refused(place.rows(away))).code).toBe("NOT_SUPPORTED");
    expect((await refused(place.sparql({ update: "LOAD <http://127.0.0.1/x.ttl>" }))).code).toBe("NOT_SUPPORTED");
  });
});

describe("R-TG-100 permissions", () => {
  it("R-TG-16 R-TG-28 the first load creates a collection if the repository allows it; a query never does", async () => {
    const { knowledge, admin } = test;
    await knowledge.repositories.create(admin, { repository_id: "auto", auto_create: true });
    const place = new GraphPlace(test, "auto", "first");
    for (const attempt of [
      () => place.match(),
      () => place.rows("SELECT * { ?s ?p ?o }"),
      () => place.sparql({ update: "CLEAR ALL" }),
      () => place.remove({ confirm: "first" }),
      () => place.text("nquads"),
    ])
      expect((await refused(attempt())).code).toBe("NOT_FOUND");
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => place.load(lines(1, i))));
    expect(all.every(({ inserted }) => inserted === 1)).toBe(true);
    expect(await place.usage()).toBe(20);
    expect(await knowledge.collections.get(admin, "auto", "first")).toMatchObject({ name: "first" });
    await knowledge.repositories.create(admin, { repository_id: "by-hand" });
    expect((await refused(new GraphPlace(test, "by-hand", "first").load(lines(1)))).code).toBe("NOT_FOUND");
  });

  it("writers of a collection change its graph, too; an archived one is read-only, and an invalid caller is refused", async () => {
    const place = await GraphPlace.make(test);
    const { knowledge, admin } = test;
    await place.load(lines(2));
    const ben = place.as(test.as("ben"));
    const writes = (who: GraphPlace) => [
      () => who.load(lines(1, 50)),
      () => who.remove({ s: "https://e.org/s50" }),
      () => who.sparql({ update: "INSERT DATA { <a:b> <a:b> 1 }" }),
      () => who.sparql({ update: "DELETE WHERE { <a:b> ?p ?o }" }),
    ];
    const reads = (who: GraphPlace) => [
      () => who.match(),
      () => who.text("nquads"),
      () => who.rows("SELECT * { ?s ?p ?o }"),
    ];
    for (const attempt of [...writes(ben), ...reads(ben)]) await attempt();
    await knowledge.collections.archive(admin, place.repository, place.collection);
    for (const attempt of reads(ben)) await attempt();
    for (const attempt of writes(ben)) expect((await refused(attempt())).code).toBe("CONFLICT");
    await knowledge.collections.unarchive(admin, place.repository, place.collection);
    await writes(ben)[0]?.();
    expect(await place.usage()).toBe(3);
    for (const attempt of [...writes(place.as(null as never)), ...reads(place.as({} as never))])
      expect((await refused(attempt())).code).toBe("UNAUTHENTICATED");
  });

  it("a load of a collection archived meanwhile stops, although it had begun", async () => {
    const place = await GraphPlace.make(test);
    await upload(
      { knowledge: test.knowledge, caller: test.admin, repository: place.repository, collection: place.collection },
      "a.txt",
      "words",
    );
    const load = place.load("", {
      format: "ntriples",
      body: (async function* () {
        await test.knowledge.collections.archive(test.admin, place.repository, place.collection);
        yield Buffer.from(lines(1));
      })(),
    });
    expect(await refused(load)).toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("is archived") as string,
    });
    expect(await place.lines()).toEqual([]);
  });

  it("R-TG-29 the record of the collection is in the answer only on request", async () => {
    const place = await GraphPlace.make(test);
    await place.load(lines(1));
    expect((await place.match()).collection).toBeUndefined();
    expect((await place.match({ include_metadata: true })).collection).toMatchObject({
      collection_id: place.collection,
      status: "ACTIVE",
    });
  });
});
