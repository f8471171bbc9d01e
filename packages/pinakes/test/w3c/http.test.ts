/** W3C's tests over HTTP, on SQLite behind a real socket: those of the protocol, and all of RDF, queries and updates once more. */
import { describe, it } from "vitest";
import { termOf, type TermText } from "../../src/domain/rdf.ts";
import { rdf11Failures, sparql10Failures, sparql11Failures, suiteSizes } from "./expected-failures.ts";
import { sparqlTest } from "./support/evaluate.ts";
import { httpEndpoint, type HttpEndpoint } from "./support/http.ts";
import { graphFiles, hasW3c, mf, testsOf, ut, type Facts, type W3cTest } from "./support/manifest.ts";
import { parserTest } from "./support/parser-test.ts";
import { passed, runSuite, wrong, type Outcome } from "./support/suite.ts";
import { forAllTests } from "../support/for-tests.ts";

const ht = "http://www.w3.org/2011/http#";
const cnt = "http://www.w3.org/2011/content#";

describe.skipIf(!hasW3c)("W3C, over HTTP", () => {
  const endpoint = forAllTests(() => httpEndpoint());

  it("RDF 1.1: what is loaded and downloaded again is the same, and what is no RDF is refused", async () => {
    await runSuite(
      { name: "RDF 1.1 over HTTP", size: suiteSizes.rdf11 },
      testsOf("rdf/rdf11/manifest.ttl"),
      rdf11Failures,
      (test) =>
        parserTest(test, async (_, file, base) => {
          const files = [{ file, graph: undefined, base }];
          await endpoint.reset(files);
          return endpoint.dump();
        }),
    );
  });

  it("the protocol: every test passes", async () => {
    await runSuite(
      { name: "SPARQL 1.1 Protocol", size: suiteSizes.protocol },
      testsOf("sparql/sparql11/protocol/manifest.ttl"),
      {},
      (test) => protocolTest(test, endpoint),
    );
  });

  it.each([
    ["SPARQL 1.0", suiteSizes.sparql10, ["sparql/sparql10/manifest.ttl"], sparql10Failures],
    [
      "SPARQL 1.1",
      suiteSizes.sparql11,
      ["sparql/sparql11/manifest.ttl", "sparql/sparql11/syntax-fed/manifest.ttl"],
      sparql11Failures,
    ],
  ])("%s: the same tests pass as in process", async (name, size, manifests, failures) => {
    await runSuite(
      { name: `${name} over HTTP`, size },
      manifests.flatMap((path) => testsOf(path)),
      failures,
      (test) => sparqlTest(test, endpoint),
    );
  });
});

/** Requests one after the other, each answered as the manifest says. */
async function protocolTest({ facts, node }: W3cTest, endpoint: HttpEndpoint): Promise<Outcome> {
  await endpoint.reset(graphFiles(facts, node, ut));
  const action = facts.one(node, `${mf}action`) as TermText;
  for (const request of facts.list(facts.one(action, `${ht}requests`))) {
    const outcome = await requestTest(facts, request, endpoint);
    if (outcome.kind !== "passed") return outcome;
  }
  return passed;
}

async function requestTest(facts: Facts, request: TermText, endpoint: HttpEndpoint): Promise<Outcome> {
  const value = (property: string) => facts.value(request, `${ht}${property}`);
  const headers = facts
    .list(facts.one(request, `${ht}headers`))
    .map((header) => [facts.value(header, `${ht}fieldName`), facts.value(header, `${ht}fieldValue`)]);
  const body = facts.one(request, `${ht}body`);
  const reply = await endpoint.send(
    value("methodName") as string,
    (value("absolutePath") as string).replace(/^\/sparql\/?/, endpoint.path),
    {
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(body === undefined ? {} : { body: bodyOf(facts, body) }),
    },
  );
  const response = facts.one(request, `${ht}resp`) as TermText;
  const classes = facts
    .all(response, `${mf}expectedStatus`)
    .map((status) => Number(/StatusCode(\d)/.exec(termOf(status).value)?.[1]));
  const told = `${reply.status} ${reply.headers.get("content-type")}: ${reply.text.slice(0, 300)}`;
  if (!classes.includes(Math.floor(reply.status / 100))) return wrong(told);
  const format = facts.value(response, `${mf}expectedFormat`);
  const isRdf = /turtle|trig|n-triples|n-quads|rdf\+xml|ld\+json/.test(reply.headers.get("content-type") ?? "");
  if (format !== undefined && isRdf !== (format === "RDF")) return wrong(told);
  if (format === "tabular" && (reply.json["results"] as object | undefined) === undefined) return wrong(told);
  const expected = facts.value(response, `${mf}expectedBoolean`);
  return expected === undefined || reply.json["boolean"] === (expected === "true") ? passed : wrong(told);
}

/** Bytes, so that no content type is made up where the test sends none. */
function bodyOf(facts: Facts, body: TermText): Uint8Array {
  const chars = facts.value(body, `${cnt}chars`) as string;
  return Buffer.from(chars, facts.value(body, `${cnt}characterEncoding`) === "UTF-16" ? "utf16le" : "utf8");
}
