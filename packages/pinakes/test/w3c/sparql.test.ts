/** W3C's tests of SPARQL 1.0 and 1.1, in process: queries, updates, their syntax, and the formats of results. */
import { describe, it } from "vitest";
import { defaultGraph, iri, type Quad } from "../../src/domain/rdf.ts";
import { read, write } from "../../src/rdf/test-rdf.ts";
import { writeSparqlResults } from "../../src/sparql/results/index.ts";
import { createSparql } from "../../src/sparql/sparql.ts";
import { testQuads, type TestQuads } from "../../src/sparql/test-quads.ts";
import { sparql10Failures, sparql11Failures, suiteSizes } from "./expected-failures.ts";
import { rdfFormatOf, sparqlTest, type Endpoint } from "./support/evaluate.ts";
import { bytesAt, hasW3c, testsOf, type GraphFile } from "./support/manifest.ts";
import { runSuite } from "./support/suite.ts";

const sparql = createSparql();
/** A busy machine may need long to load the grammar. */
const limits = { timeoutMs: 300_000 };
const inProcess = (): Endpoint => {
  let store: TestQuads = testQuads();
  return {
    reset: async (files) => {
      store = testQuads((await Promise.all(files.map(quadsOf))).flat());
    },
    query: async (text, { base, accept }) => {
      const result = await sparql.query(store, text, { baseIri: base, limits });
      if (result.kind === "quads") return write("ntriples", await Array.fromAsync(result.quads));
      return (await Array.fromAsync(writeSparqlResults(result, accept))).join("");
    },
    update: async (text, { base }) => void (await sparql.update(store, store, text, { baseIri: base, limits })),
    dump: async () => store.quads(),
  };
};

async function quadsOf({ file, graph }: GraphFile, at: number): Promise<readonly Quad[]> {
  const quads = await read(rdfFormatOf(file), bytesAt(file), { baseIri: file, blankPrefix: `f${at}` });
  return graph === undefined
    ? quads
    : quads.map((quad) => ({ ...quad, g: quad.g === defaultGraph ? iri(graph) : quad.g }));
}

/** Queries, updates, results and the syntax of federation; what needs another endpoint is below. */
const sparql11Tests = () => [
  ...testsOf("sparql/sparql11/manifest.ttl"),
  ...testsOf("sparql/sparql11/syntax-fed/manifest.ttl"),
];

describe.skipIf(!hasW3c)("W3C SPARQL, in process", () => {
  const endpoint = inProcess();

  it("SPARQL 1.0: every test but the expected failures passes, and no answer is wrong", async () => {
    await runSuite(
      { name: "SPARQL 1.0", size: suiteSizes.sparql10 },
      testsOf("sparql/sparql10/manifest.ttl"),
      sparql10Failures,
      (test) => sparqlTest(test, endpoint),
    );
  });

  it("SPARQL 1.1: every test but the expected failures passes, and no answer is wrong", async () => {
    await runSuite({ name: "SPARQL 1.1", size: suiteSizes.sparql11 }, sparql11Tests(), sparql11Failures, (test) =>
      sparqlTest(test, endpoint),
    );
  });

  it("SPARQL 1.1 Federated Query is refused, every test of it", async () => {
    const tests = testsOf("sparql/sparql11/service/manifest.ttl");
    const refused = Object.fromEntries(
      tests.map(({ id }) => [id, "SERVICE is off: no request makes the server call another (R-TG-126)."]),
    );
    await runSuite({ name: "SPARQL 1.1 federation", size: suiteSizes.federation }, tests, refused, (test) =>
      sparqlTest(test, endpoint),
    );
  });
});
