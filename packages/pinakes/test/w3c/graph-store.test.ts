/** W3C's tests of the Graph Store Protocol over a real socket, and what the suite leaves out. */
import { beforeAll, describe, expect, it } from "vitest";
import { termOf, type TermText } from "../../src/domain/rdf.ts";
import { graphLimits } from "../../src/knowledge/index.ts";
import { readByOxigraph } from "../../src/rdf/test-rdf.ts";
import { sameDataset } from "./support/compare.ts";
import { suiteSizes } from "./expected-failures.ts";
import { httpEndpoint } from "./support/http.ts";
import { hasW3c, mf, testsOf, type Facts, type W3cTest } from "./support/manifest.ts";
import { passed, runSuite, wrong, type Outcome } from "./support/suite.ts";
import { forAllTests } from "../support/for-tests.ts";

const ht = "http://www.w3.org/2011/http#";
const cnt = "http://www.w3.org/2011/content#";
const codes: Readonly<Record<string, number>> = { OK: 200, Created: 201, NoContent: 204, NotFound: 404 };

let at: string;
const endpoint = forAllTests(() => httpEndpoint());
beforeAll(async () => {
  at = endpoint.path.replace(/sparql$/, "graphs");
});

describe.skipIf(!hasW3c)("W3C", () => {
  it("R-TG-124 every test of the Graph Store Protocol passes, named by parameter and directly", async () => {
    await runSuite(
      { name: "SPARQL 1.1 Graph Store Protocol", size: suiteSizes.graphStore },
      testsOf("sparql/sparql11/graph-store-protocol/manifest.ttl"),
      {},
      graphStoreTest,
    );
  });
});

async function graphStoreTest({ facts, node }: W3cTest): Promise<Outcome> {
  await endpoint.reset([]);
  const locations = new Map<string, string>();
  const filled = (text: string) => [...locations].reduce((all, [name, value]) => all.replaceAll(name, value), text);
  const action = facts.one(node, `${mf}action`) as TermText;
  for (const request of facts.list(facts.one(action, `${ht}requests`))) {
    const outcome = await requestTest(facts, request, filled, locations);
    if (outcome.kind !== "passed") return outcome;
  }
  return passed;
}

async function requestTest(
  facts: Facts,
  request: TermText,
  filled: (text: string) => string,
  locations: Map<string, string>,
): Promise<Outcome> {
  const value = (node: TermText, property: string) => facts.value(node, property) as string;
  const headersOf = (node: TermText) =>
    facts
      .list(facts.one(node, `${ht}headers`))
      .map((header) => [value(header, `${ht}fieldName`), value(header, `${ht}fieldValue`)] as const);
  const method = value(request, `${ht}methodName`);
  const path = filled(value(request, `${ht}absolutePath`)).replace(/^\/gsp/, at);
  const body = facts.one(request, `${ht}body`);
  const reply = await endpoint.send(method, path, {
    headers: Object.fromEntries(headersOf(request)),
    ...(body === undefined ? {} : { body: Buffer.from(filled(value(body, `${cnt}chars`)).replace(/^\n/, "")) }),
  });
  const told = `${method} ${path}: ${reply.status} ${reply.headers.get("content-type")}: ${reply.text.slice(0, 300)}`;
  const response = facts.one(request, `${ht}resp`) as TermText;
  const wanted = facts.all(response, `${mf}expectedStatus`).map((one) => codes[termOf(one).value.replace(/.*#/, "")]);
  if (!wanted.includes(reply.status)) return wrong(told);
  const location = facts.value(response, `${mf}expectedLocation`);
  if (location !== undefined) {
    const found = reply.headers.get("location");
    if (found === null) return wrong(`no Location: ${told}`);
    locations.set(location, found);
  }
  for (const [name, text] of headersOf(response))
    if (reply.headers.get(name) !== text) return wrong(`${name} is not ${text}: ${told}`);
  const expected = facts.one(response, `${ht}body`);
  if (expected === undefined) return passed;
  const read = (text: string) => readByOxigraph("turtle", text, "http://www.example/gsp");
  const same = await sameDataset(read(reply.text), read(filled(value(expected, `${cnt}chars`))));
  return same ? passed : wrong(told);
}

describe("the Graph Store Protocol", () => {
  const turtle = { "content-type": "text/turtle" };
  const graph = (name: string) => `${at}?graph=${encodeURIComponent(name)}`;
  const put = (path: string, body: string, headers: Readonly<Record<string, string>> = turtle) =>
    endpoint.send("PUT", path, { body, headers });
  const triple = (n: number | string) => `<http://e.org/s${n}> <http://e.org/p> "${n}" .`;
  const texts = async (path: string) =>
    (await endpoint.send("GET", path, { headers: { accept: "application/n-triples" } })).text;

  it("R-TG-124 negotiates formats, replaces, merges and removes one graph and no other", async () => {
    await endpoint.reset([]);
    const [one, two] = [graph("http://e.org/one"), graph("http://e.org/two")];
    expect((await put(one, `${triple(1)} ${triple(2)}`)).status).toBe(201);
    expect((await put(two, triple(1))).status).toBe(201);
    expect((await put(`${at}?default`, triple("d"))).status).toBe(204);
    expect((await put(one, triple(2))).status).toBe(204);
    expect(await texts(one)).toBe(`${triple(2)}\n`);
    expect((await endpoint.send("POST", one, { body: triple(3), headers: turtle })).status).toBe(204);
    expect((await texts(one)).trim().split("\n").toSorted()).toEqual([triple(2), triple(3)]);
    for (const [accept, type] of [
      ["application/rdf+xml", "application/rdf+xml"],
      ["application/ld+json", "application/ld+json"],
      ["*/*", "text/turtle; charset=utf-8"],
      [undefined, "text/turtle; charset=utf-8"],
    ] as const) {
      const reply = await endpoint.send("GET", one, accept === undefined ? {} : { headers: { accept } });
      expect([reply.status, reply.headers.get("content-type")]).toEqual([200, type]);
    }
    expect((await endpoint.send("GET", one, { headers: { accept: "image/png" } })).status).toBe(406);
    const jsonld = JSON.stringify([{ "@id": "http://e.org/s9", "http://e.org/p": [{ "@value": "9" }] }]);
    expect((await put(one, jsonld, { "content-type": "application/ld+json" })).status).toBe(204);
    expect(await texts(one)).toBe(`${triple(9)}\n`);
    // Relative IRIs are relative to the graph.
    await put(one, "<#it> <p> <> .");
    expect(await texts(one)).toBe("<http://e.org/one#it> <http://e.org/p> <http://e.org/one> .\n");
    expect((await endpoint.send("DELETE", one)).status).toBe(204);
    for (const method of ["GET", "HEAD", "DELETE"]) expect((await endpoint.send(method, one)).status).toBe(404);
    expect(await texts(two)).toBe(`${triple(1)}\n`);
    expect((await endpoint.send("DELETE", `${at}?default`)).status).toBe(204);
    expect(await texts(`${at}?default`)).toBe("");
    // An empty graph is no graph.
    expect((await put(two, "")).status).toBe(204);
    expect((await endpoint.send("HEAD", two)).status).toBe(404);
    const blank = '[] <http://e.org/p> "b" .';
    expect((await put(two, blank)).status).toBe(201);
    const before = await texts(two);
    expect((await put(two, blank)).status).toBe(204);
    expect(await texts(two)).toBe(before);
  });

  it("R-TG-124 directly: the address is the name, whatever stands behind the collection; a new graph gets one", async () => {
    await endpoint.reset([]);
    const made = await endpoint.send("POST", at, { body: triple(1), headers: turtle });
    const location = made.headers.get("location") as string;
    expect([made.status, location]).toEqual([201, expect.stringMatching(new RegExp(`^http://.*${at}/[0-9a-f-]{36}$`))]);
    const { pathname } = new URL(location);
    expect(await texts(pathname)).toBe(`${triple(1)}\n`);
    expect(await texts(graph(location))).toBe(`${triple(1)}\n`);
    expect((await put(`${at}/a/b%2Fc/d.ttl`, triple(2))).status).toBe(201);
    expect((await endpoint.send("HEAD", `${at}/a/b/c/d.ttl`)).status).toBe(404);
    expect((await endpoint.send("DELETE", `${at}/a/b%2Fc/d.ttl`)).status).toBe(204);
  });

  it("R-TG-124 refuses what is wrong, and writes nothing of it", async () => {
    await endpoint.reset([]);
    const one = graph("http://e.org/one");
    await put(one, triple(1));
    const status = async (
      method: string,
      path: string,
      body?: string,
      headers: Readonly<Record<string, string>> = turtle,
    ) => (await endpoint.send(method, path, body === undefined ? {} : { body, headers })).status;
    for (const path of [
      at,
      `${at}?graph=relative`,
      `${at}?graph=`,
      `${at}?default&graph=http://e.org/one`,
      `${at}?graph=http://a b`,
    ]) {
      expect(await status("GET", path), path).toBe(400);
      expect(await status("PUT", path, triple(2)), path).toBe(400);
      expect(await status("DELETE", path), path).toBe(400);
    }
    expect(await status("PUT", one, `${triple(2)} <broken`)).toBe(400);
    expect(await status("POST", one, `${triple(2)} <broken`)).toBe(400);
    expect(await status("PUT", one, `<http://e.org/g> { ${triple(2)} }`, { "content-type": "application/trig" })).toBe(
      400,
    );
    expect(await status("PUT", one, triple(2), { "content-type": "image/png" })).toBe(415);
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `<urn:s> <urn:p> "${i}" .`).join("\n");
    expect(
      await status("PUT", one, lines(graphLimits.atomicQuadsMax + 1), { "content-type": "application/n-triples" }),
    ).toBe(413);
    expect(
      await status("POST", one, lines(graphLimits.atomicQuadsMax + 1), { "content-type": "application/n-triples" }),
    ).toBe(413);
    const form = new FormData();
    form.append("a", new Blob([triple(2)], { type: "text/turtle" }), "a.ttl");
    form.append("b", new Blob([`${triple(3)} <broken`], { type: "text/turtle" }), "b.ttl");
    expect((await endpoint.send("POST", one, { body: form })).status).toBe(400);
    expect(await texts(one)).toBe(`${triple(1)}\n`);
    expect(
      await status("POST", graph("http://e.org/many"), lines(graphLimits.atomicQuadsMax), {
        "content-type": "application/n-triples",
      }),
    ).toBe(201);
  });
});
