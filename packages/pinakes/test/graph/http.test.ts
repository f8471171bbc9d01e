/** The graph over HTTP: content types both ways, the SPARQL protocol, and errors with instructions. */
import { beforeAll, describe, expect, it } from "vitest";
import { graphLimits, knowledgeLimits } from "../../src/knowledge/index.ts";
import { newSite, openTestServer, type CallOptions, type Json, type Site } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "boss", { role: "admin" });
});

const people = `@prefix e: <https://e.org/> .
e:ada a e:Person ; e:name "Ada"@en ; e:age 36 .
e:bob a e:Person , e:Man ; e:name "Bob, \\"Bobby\\"" ; e:knows [ e:name "Eve" ] .
`;

const send = ({ at }: Site, path: string, type: string, body: string, more: CallOptions = {}) =>
  server.call("POST", `${at}/${path}`, { key, body, ...more, headers: { "content-type": type, ...more.headers } });
const load = (site: Site, type: string, body: string, query = "") => send(site, `triples${query}`, type, body);
const get = ({ at }: Site, path: string, fields: Readonly<Record<string, string>>, accept?: string) =>
  server.call("GET", `${at}/${path}?${new URLSearchParams(fields).toString()}`, {
    key,
    ...(accept === undefined ? {} : { headers: { accept } }),
  });
const ask = (site: Site, query: string, accept?: string) => get(site, "sparql", { query }, accept);
const problem = (status: number, code = "INVALID") => ({
  status,
  json: { status, code, type: expect.any(String) as string, request_id: expect.any(String) as string },
});

async function filled(): Promise<Site> {
  const site = await newSite(server, key);
  expect(await load(site, "text/turtle", people)).toMatchObject({ status: 200, json: { read: 8, inserted: 8 } });
  return site;
}

describe("loading", () => {
  it("R-TG-120 accepts every format by its Content-Type, including parameters and older names", async () => {
    const site = await newSite(server, key);
    const bodies: readonly (readonly [string, string])[] = [
      ["text/turtle; charset=utf-8", "<a:t> <a:p> 1 ."],
      ["application/x-turtle", "<a:t2> <a:p> 1 ."],
      ["application/trig", "<a:g> { <a:g> <a:p> 1 }"],
      ["application/n-triples", "<a:nt> <a:p> <a:o> .\n"],
      ["application/n-quads", "<a:nq> <a:p> <a:o> <a:g> .\n"],
      ["APPLICATION/LD+JSON", '{"@id":"a:ld","a:p":{"@value":"x"}}'],
      [
        "application/rdf+xml",
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="a:"><rdf:Description rdf:about="a:xml"><e:p>x</e:p></rdf:Description></rdf:RDF>',
      ],
      ["application/json", '{"triples":[{"s":"a:j","p":"a:p","o":"\\"x\\"","g":null}]}'],
    ];
    for (const [type, body] of bodies)
      expect(await load(site, type, body), type).toMatchObject({ status: 200, json: { read: 1, inserted: 1 } });
    expect((await get(site, "triples", {})).json["items"]).toHaveLength(bodies.length);
    expect(await load(site, "image/png", "x")).toMatchObject(problem(415));
    expect(await load(site, "text/plain", "<a:t> <a:p> 1 .")).toMatchObject(problem(415));
    expect((await load(site, "image/png", "x")).headers.get("accept")).toContain("text/turtle");
  });

  it("R-TG-120 a syntax error is a 400 with its line, and with what is stored before it; nothing with all_or_nothing", async () => {
    const site = await newSite(server, key);
    const broken = "<a:a> <a:b> 1 .\n<a:a> <a:b> 2 .\nbroken\n";
    const whole = await load(site, "text/turtle", broken, "?all_or_nothing=true");
    expect(whole).toMatchObject(problem(400));
    expect(whole.json["detail"]).toBe('Line 3 of the Turtle document: Unexpected "broken". Nothing was stored.');
    const partly = await load(site, "text/turtle", broken);
    expect(partly).toMatchObject({
      ...problem(400),
      json: {
        line: 3,
        read: 2,
        inserted: 2,
        detail: expect.stringMatching(/^Line 3 .* The 2 triples before it are stored, 2 of them new\.$/) as string,
      },
    });
    expect((await load(site, "text/turtle", "<a:a> <a:b> 1 .\nbroken")).json["detail"]).toContain(
      "The triple before it is stored, as it already was.",
    );
    expect((await load(site, "text/turtle", "broken")).json["detail"]).toContain("Nothing was stored.");
    expect((await server.call("GET", `${site.at}/usage`, { key })).json).toMatchObject({ triples: 2 });
    expect(await load(site, "application/n-triples", "<a:a> <a:b> <a:c> .\n", "?all_or_nothing=true")).toMatchObject({
      json: { read: 1, inserted: 1, atomic: true },
    });
    expect(
      await load(site, "text/turtle", "<x> <y> <z> .", "?base_iri=https://e.org/&graph=https://e.org/g"),
    ).toMatchObject({ status: 200 });
    expect((await get(site, "triples", { g: "https://e.org/g" })).json["items"]).toMatchObject([
      { s: { value: "https://e.org/x" } },
    ]);
    for (const wrong of ["?graph=nothing", "?all_or_nothing=yes", "?format=turtle"])
      expect(await load(site, "text/turtle", "", wrong), wrong).toMatchObject(problem(400));
  });
});

describe("querying by pattern", () => {
  it("R-TG-83 returns pages as JSON, and everything as RDF, by Accept", async () => {
    const site = await filled();
    const seen: Json[] = [];
    for (let cursor = ""; ;) {
      const { status, json } = await get(site, "triples", { limit: "3", ...(cursor === "" ? {} : { cursor }) });
      expect(status).toBe(200);
      seen.push(...(json["items"] as Json[]));
      expect(json["truncated"]).toBe(json["next_cursor"] !== null);
      if (json["next_cursor"] === null) break;
      cursor = json["next_cursor"] as string;
    }
    expect(new Set(seen.map((item) => JSON.stringify(item))).size).toBe(8);
    expect((await get(site, "triples", { o: '"Ada"@EN' })).json["items"]).toEqual([
      {
        s: { type: "iri", value: "https://e.org/ada" },
        p: { type: "iri", value: "https://e.org/name" },
        o: { type: "literal", value: "Ada", language: "en" },
        g: null,
      },
    ]);
    const turtle = await get(site, "triples", { s: "https://e.org/ada" }, "text/turtle");
    expect(turtle.headers.get("content-type")).toBe("text/turtle; charset=utf-8");
    expect(turtle.text).toContain('<https://e.org/name> "Ada"@en');
    for (const type of [
      "application/n-triples",
      "application/n-quads",
      "application/trig",
      "application/ld+json",
      "application/rdf+xml",
    ]) {
      const { headers, text } = await get(site, "triples", { p: "https://e.org/age" }, type);
      expect([headers.get("content-type"), text.includes("36")], type).toEqual([type, true]);
    }
    expect((await get(site, "triples", {}, "text/html, */*;q=0.1")).headers.get("content-type")).toBe(
      "application/json",
    );
    expect(await get(site, "triples", {}, "text/html")).toMatchObject(problem(406));
    expect(await get(site, "triples", { limit: "5" }, "text/turtle")).toMatchObject(problem(400));
  });

  it("refuses invalid input, and says how to write it", async () => {
    const site = await filled();
    const { pageTriplesMax } = graphLimits;
    expect(await get(site, "triples", { limit: String(pageTriplesMax) })).toMatchObject({ status: 200 });
    for (const wrong of [
      { limit: String(pageTriplesMax + 1) },
      { limit: "0" },
      { limit: "x" },
      { o: "Ada" },
      { s: "a b" },
      { cursor: "abc" },
      { subject: "a:b" },
      { g: "none" },
    ])
      expect(await get(site, "triples", wrong), JSON.stringify(wrong)).toMatchObject(problem(400));
    expect((await get(site, "triples", { o: "Ada" })).json["detail"]).toContain('put them in quotes: "Ada"');
    await load(site, "application/trig", "<a:g> { <a:a> <a:b> 1 }");
    const named = await get(site, "triples", {}, "text/turtle");
    expect(named).toMatchObject(problem(400));
    expect(named.json["detail"]).toContain("TriG or N-Quads");
    expect((await get(site, "triples", { g: "a:g" }, "text/turtle")).text).toContain("<a:a> <a:b>");
    for (const at of [
      "/v1/repositories/nope/collections/x",
      "/v1/repositories/..%2f/collections/x",
      `${site.at}%00`,
      `${site.at}_2024`,
    ])
      for (const path of ["triples", "sparql?query=ASK%7B%7D"])
        expect([400, 404], `${at}/${path}`).toContain((await server.call("GET", `${at}/${path}`, { key })).status);
  });

  it("R-TG-88 queries several collections at once, and refuses all if one is missing", async () => {
    const [one, two] = [await filled(), await newSite(server, key)];
    await load(two, "text/turtle", "<https://e.org/cy> <https://e.org/age> 7 .");
    const collections = [one, two].map(({ repository, collection }) => ({ repository, collection }));
    const body = { collections, p: { type: "iri", value: "https://e.org/age" }, g: null };
    const { status, json } = await server.call("POST", "/v1/triples:query", { key, body });
    expect(status).toBe(200);
    expect((json["items"] as Json[]).map((item) => [item["repository_id"], (item["s"] as Json)["value"]])).toEqual([
      [one.repository, "https://e.org/ada"],
      [two.repository, "https://e.org/cy"],
    ]);
    const stranger = await server.key("w1", "stranger");
    await server.call("POST", `/v1/repositories/${one.repository}/collections`, {
      key,
      body: { collection_id: "hidden", name: "Hidden", private: true },
    });
    const hidden = [...collections, { repository: one.repository, collection: "hidden" }];
    for (const path of ["/v1/triples:query", "/v1/sparql"]) {
      const asked = (wanted: object) => ({
        key: stranger,
        body: { ...(path === "/v1/sparql" ? { query: "ASK {}" } : {}), collections: wanted },
      });
      expect((await server.call("POST", path, asked(collections))).status, path).toBe(200);
      expect(await server.call("POST", path, asked(hidden)), path).toMatchObject(problem(404, "NOT_FOUND"));
      const { graphCollectionsMax } = knowledgeLimits;
      const many = (count: number) => Array.from({ length: count }, () => collections[0]);
      expect((await server.call("POST", path, asked(many(graphCollectionsMax)))).status).toBe(200);
      for (const wrong of [many(graphCollectionsMax + 1), [], "x"])
        expect(await server.call("POST", path, asked(wrong as object))).toMatchObject(problem(400));
    }
  });

  it("removes by pattern and exact triples; everything only with its id", async () => {
    const site = await filled();
    const remove = (fields: Readonly<Record<string, string>>) =>
      server.call("DELETE", `${site.at}/triples?${new URLSearchParams(fields).toString()}`, { key });
    expect(await remove({})).toMatchObject(problem(400));
    expect(await remove({ confirm: "other" })).toMatchObject(problem(400));
    expect((await remove({ p: "https://e.org/age" })).json).toEqual({ removed: 1 });
    const { json } = await get(site, "triples", { o: '"Eve"' });
    expect(
      (await server.call("POST", `${site.at}/triples:remove`, { key, body: { triples: json["items"] } })).json,
    ).toEqual({ removed: 1 });
    expect((await remove({ confirm: site.collection })).json).toEqual({ removed: 6 });
    expect((await server.call("GET", `${site.at}/usage`, { key })).json).toMatchObject({ triples: 0 });
  });
});

describe("R-TG-122 the SPARQL protocol", () => {
  it("accepts a query in the URL, in a form, and as the body, and answers JSON, XML, CSV and TSV", async () => {
    const site = await filled();
    const query = "SELECT ?n { ?p <https://e.org/name> ?n } ORDER BY ?n";
    const form = (fields: Readonly<Record<string, string>>, accept = "*/*") =>
      send(site, "sparql", "application/x-www-form-urlencoded", new URLSearchParams(fields).toString(), {
        headers: { accept },
      });
    const asked = [
      await ask(site, query),
      await form({ query }),
      await send(site, "sparql", "application/sparql-query", query),
    ];
    for (const { status, headers, json } of asked) {
      expect([status, headers.get("content-type")]).toEqual([200, "application/sparql-results+json"]);
      expect(json).toEqual({
        head: { vars: ["n"] },
        results: {
          bindings: [
            { n: { type: "literal", value: 'Bob, "Bobby"' } },
            { n: { type: "literal", value: "Eve" } },
            { n: { type: "literal", value: "Ada", "xml:lang": "en" } },
          ],
        },
      });
    }
    const csv = await ask(site, query, "text/csv");
    expect([csv.headers.get("content-type"), csv.text]).toEqual([
      "text/csv; charset=utf-8",
      'n\r\n"Bob, ""Bobby"""\r\nEve\r\nAda\r\n',
    ]);
    const tsv = await form({ query }, "text/tab-separated-values");
    expect(tsv.text).toBe('?n\n"Bob, \\"Bobby\\""\n"Eve"\n"Ada"@en\n');
    const xml = await ask(site, query, "application/sparql-results+xml");
    expect(xml.text).toContain('<literal xml:lang="en">Ada</literal>');
    expect((await ask(site, query, "application/json")).headers.get("content-type")).toBe(
      "application/sparql-results+json",
    );
  });

  it("answers ASK, CONSTRUCT and DESCRIBE in their formats, 406 for others", async () => {
    const site = await filled();
    expect((await ask(site, "ASK { ?s ?p 36 }")).json).toEqual({ head: {}, boolean: true });
    expect(await ask(site, "ASK { ?s ?p 36 }", "text/csv")).toMatchObject(problem(406));
    const made = await ask(
      site,
      "CONSTRUCT { ?s <https://e.org/is> ?n } { ?s <https://e.org/name> ?n FILTER(isIRI(?s)) }",
    );
    expect([made.headers.get("content-type"), made.text.split("\n").length]).toEqual(["text/turtle; charset=utf-8", 3]);
    const described = await ask(site, "DESCRIBE <https://e.org/ada>", "application/n-triples");
    expect(described.text.trim().split("\n")).toHaveLength(3);
    expect(await ask(site, "DESCRIBE <https://e.org/ada>", "text/csv")).toMatchObject(problem(406));
    expect(await ask(site, "SELECT * { ?s ?p ?o }", "text/turtle")).toMatchObject(problem(406));
  });

  it("R-TG-123 accepts updates, as the body and in a form, and returns what they changed", async () => {
    const site = await filled();
    expect(
      (await send(site, "sparql", "application/sparql-update", "INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 1 , 2 } }"))
        .json,
    ).toEqual({
      inserted: 2,
      removed: 0,
    });
    const update = "DELETE { GRAPH <a:g> { ?s ?p 1 } } WHERE { GRAPH <a:g> { ?s ?p 1 } }";
    expect(
      (await send(site, "sparql", "application/x-www-form-urlencoded", new URLSearchParams({ update }).toString()))
        .json,
    ).toEqual({
      inserted: 0,
      removed: 1,
    });
    expect((await ask(site, "SELECT ?o { GRAPH ?g { ?s ?p ?o } }")).json).toMatchObject({
      results: { bindings: [{ o: { value: "2" } }] },
    });
    const inGraph = await get(site, "sparql", { query: "SELECT ?o { ?s ?p ?o }", "default-graph-uri": "a:g" });
    expect(inGraph.json).toMatchObject({ results: { bindings: [{ o: { value: "2" } }] } });
    const union = await get(site, "sparql", { query: "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", default_graph: "union" });
    expect(union.json).toMatchObject({ results: { bindings: [{ n: { value: "9" } }] } });
    const reader = await server.key("w1", "reader", { role: "admin", scopes: ["read"] });
    expect((await send(site, "sparql", "application/sparql-query", "ASK {}", { key: reader })).status).toBe(200);
    expect(await send(site, "sparql", "application/sparql-update", "CLEAR ALL", { key: reader })).toMatchObject(
      problem(403, "FORBIDDEN"),
    );
    expect(
      await send(site, "sparql", "application/x-www-form-urlencoded", "update=CLEAR+ALL", { key: reader }),
    ).toMatchObject(problem(403, "FORBIDDEN"));
    expect((await server.call("GET", `${site.at}/usage`, { key })).json).toMatchObject({ triples: 9 });
  });

  it("R-TG-125 R-TG-126 an invalid, too long or disabled query is a problem that says so, never a truncated answer", async () => {
    const site = await filled();
    const all = "SELECT * { ?s ?p ?o }";
    expect((await get(site, "sparql", { query: all, limit: "8" })).status).toBe(200);
    expect(await get(site, "sparql", { query: all, limit: "7" })).toMatchObject(problem(413, "LIMIT_EXCEEDED"));
    const wide = Array.from({ length: 8 }, (_, i) => `?a${i} ?b${i} ?c${i} .`).join(" ");
    expect(await get(site, "sparql", { query: `SELECT (COUNT(*) AS ?n) { ${wide} }`, timeout_ms: "1" })).toMatchObject(
      problem(413, "LIMIT_EXCEEDED"),
    );
    expect(await ask(site, "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }")).toMatchObject(
      problem(501, "NOT_SUPPORTED"),
    );
    expect(await send(site, "sparql", "application/sparql-update", "LOAD <http://127.0.0.1:1/>")).toMatchObject(
      problem(501, "NOT_SUPPORTED"),
    );
    const wrong = await ask(site, "SELECT * {\n ?s ?p }");
    expect(wrong).toMatchObject(problem(400));
    expect(wrong.json["detail"]).toContain("line 2");
    for (const fields of [
      {},
      { query: "" },
      { query: all, update: "x" },
      { query: all, timeout_ms: "0" },
      { query: all, timeout_ms: String(graphLimits.sparqlTimeoutMsMax + 1) },
      { query: all, "default-graph-uri": "no iri" },
    ])
      expect(await get(site, "sparql", fields as Record<string, string>), JSON.stringify(fields)).toMatchObject(
        problem(400),
      );
    const form = (text: string) => send(site, "sparql", "application/x-www-form-urlencoded", text);
    for (const text of [
      "",
      "query=ASK{}&query=ASK{}",
      "query=ASK{}&colour=red",
      "query=ASK{}&limit=x",
      "query=ASK{}&update=CLEAR+ALL",
      "query=ASK{}&default_graph=x",
    ])
      expect(await form(text), text).toMatchObject(problem(400));
    expect(await send(site, "sparql", "text/plain", all)).toMatchObject(problem(415));
    expect(
      await server.call("POST", `${site.at}/sparql`, {
        key,
        body: new Uint8Array([0xff, 0xfe]),
        headers: { "content-type": "application/sparql-query" },
      }),
    ).toMatchObject(problem(400));
    expect(await send(site, "sparql", "application/sparql-query", " ".repeat(16 * 1_048_576))).toMatchObject(
      problem(400),
    );
    expect((await send(site, "sparql", "application/sparql-query", " ".repeat(16 * 1_048_576 + 1))).json).toMatchObject(
      {
        status: 413,
        detail: expect.stringContaining("16777216 bytes") as string,
      },
    );
  });

  it("R-TG-125 a disconnected client ends the work", async () => {
    const site = await filled();
    const stop = new AbortController();
    stop.abort();
    const reply = await send(site, "sparql", "application/sparql-query", "ASK { ?s ?p ?o }", { signal: stop.signal });
    expect(reply).toMatchObject({ ...problem(400), json: { retryable: true } });
  });

  it("R-TG-127 GRAPH reaches only the graphs of the collection, in one and across several", async () => {
    const [one, two, apart] = [await newSite(server, key), await newSite(server, key), await newSite(server, key)];
    for (const [i, site] of [one, two, apart].entries())
      await load(site, "application/trig", `<a:g> { <a:s> <a:p> ${i} } <a:g${i}> { <a:s> <a:p> ${i} }`);
    const query =
      "SELECT DISTINCT ?g ?o { { GRAPH ?g { ?s ?p ?o } } UNION { GRAPH <a:g2> { ?s ?p ?o } } } ORDER BY ?g ?o";
    const values = (json: Json) =>
      ((json["results"] as Json)["bindings"] as Record<string, Json>[]).map(
        ({ g, o }) => `${g?.["value"] as string} ${o?.["value"] as string}`,
      );
    expect(values((await ask(one, query)).json)).toEqual(["a:g 0", "a:g0 0"]);
    const collections = [one, two].map(({ repository, collection }) => ({ repository, collection }));
    expect(values((await server.call("POST", "/v1/sparql", { key, body: { query, collections } })).json)).toEqual([
      "a:g 0",
      "a:g 1",
      "a:g0 0",
      "a:g1 1",
    ]);
    expect(
      (await get(one, "sparql", { query: "ASK { GRAPH <a:g2> { ?s ?p ?o } }", "named-graph-uri": "a:g2" })).json,
    ).toMatchObject({ boolean: false });
    expect((await ask(one, "ASK FROM NAMED <a:g2> { GRAPH ?g { ?s ?p ?o } }")).json).toMatchObject({ boolean: false });
  });
});

describe("the reference", () => {
  it("names every type that these routes accept and return", async () => {
    const { paths } = (await server.call("GET", "/v1/openapi.json")).json as {
      paths: Record<
        string,
        Record<string, { requestBody?: { content: object }; responses: Record<string, { content: object }> }>
      >;
    };
    const { get: read, post } = paths["/v1/repositories/{rid}/collections/{cid}/triples"] ?? {};
    expect(Object.keys(read?.responses["200"]?.content ?? {})).toEqual([
      "application/json",
      "text/turtle",
      "application/trig",
      "application/n-triples",
      "application/n-quads",
      "application/ld+json",
      "application/rdf+xml",
    ]);
    expect(Object.keys(post?.requestBody?.content ?? {})).toEqual(
      expect.arrayContaining(["text/turtle", "application/rdf+xml", "application/json"]),
    );
    const sparql = paths["/v1/repositories/{rid}/collections/{cid}/sparql"];
    expect(Object.keys(sparql?.["get"]?.responses["200"]?.content ?? {})).toEqual(
      expect.arrayContaining(["application/sparql-results+json", "text/csv", "text/turtle"]),
    );
  });
});

describe("base of a SPARQL request", () => {
  const made = 'SELECT (IRI("x") AS ?i) (<y> AS ?j) {}';
  const values = (json: Json) =>
    Object.values((json["results"] as { bindings: Record<string, { value: string }>[] }).bindings[0] ?? {}).map(
      ({ value }) => value,
    );

  it("R-TG-122 the URL of the request, unless base_iri or BASE is given", async () => {
    const site = await newSite(server, key);
    const own = `http://localhost${site.at}/`;
    expect(values((await ask(site, made)).json)).toEqual([`${own}x`, `${own}y`]);
    expect(values((await get(site, "sparql", { query: made, base_iri: "https://b.org/c" })).json)).toEqual([
      "https://b.org/x",
      "https://b.org/y",
    ]);
    expect(values((await ask(site, `BASE <https://d.org/> ${made}`)).json)).toEqual([
      "https://d.org/x",
      "https://d.org/y",
    ]);
    const form = new URLSearchParams({ query: made, base_iri: "https://b.org/c" }).toString();
    expect(values((await send(site, "sparql", "application/x-www-form-urlencoded", form)).json)).toEqual([
      "https://b.org/x",
      "https://b.org/y",
    ]);
    const across = { query: made, collections: [{ repository: site.repository, collection: site.collection }] };
    expect(values((await server.call("POST", "/v1/sparql", { key, body: across })).json)).toEqual([
      "http://localhost/v1/x",
      "http://localhost/v1/y",
    ]);
    expect(
      values((await server.call("POST", "/v1/sparql", { key, body: { ...across, base_iri: "https://b.org/c" } })).json),
    ).toEqual(["https://b.org/x", "https://b.org/y"]);
    expect(await get(site, "sparql", { query: made, base_iri: "no base" })).toMatchObject(problem(400));
    expect(
      await send(
        site,
        "sparql",
        "application/sparql-update",
        'INSERT { <a:s> <a:p> ?i } WHERE { BIND(IRI("x") AS ?i) }',
      ),
    ).toMatchObject({
      json: { inserted: 1 },
    });
    expect((await get(site, "triples", {})).json["items"]).toMatchObject([{ o: { value: `${own}x` } }]);
  });

  it("R-TG-123 using-graph-uri together with USING or WITH is a 400, and changes nothing", async () => {
    const site = await filled();
    for (const clause of [
      "INSERT { <a:s> <a:p> 1 } USING <a:g> WHERE {}",
      "INSERT { <a:s> <a:p> 1 } USING NAMED <a:g> WHERE {}",
      "WITH <a:g> INSERT { <a:s> <a:p> 1 } WHERE {}",
    ])
      for (const parameter of ["using-graph-uri", "using-named-graph-uri"])
        expect(await send(site, `sparql?${parameter}=a:g`, "application/sparql-update", clause)).toMatchObject(
          problem(400),
        );
    expect((await server.call("GET", `${site.at}/usage`, { key })).json).toMatchObject({ triples: 8 });
  });
});
