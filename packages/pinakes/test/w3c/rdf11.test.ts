/** W3C's tests of the parsers of RDF 1.1: Turtle, TriG, N-Triples, N-Quads and RDF/XML. */
import { describe, it } from "vitest";
import { read } from "../../src/rdf/test-rdf.ts";
import { rdf11Failures, suiteSizes } from "./expected-failures.ts";
import { bytesAt, hasW3c, testsOf } from "./support/manifest.ts";
import { parserTest } from "./support/parser-test.ts";
import { runSuite } from "./support/suite.ts";

describe.skipIf(!hasW3c)("W3C RDF 1.1", () => {
  it("every parser test but the expected failures passes, and nothing is read wrongly", async () => {
    await runSuite(
      { name: "RDF 1.1", size: suiteSizes.rdf11 },
      testsOf("rdf/rdf11/manifest.ttl"),
      rdf11Failures,
      (test) => parserTest(test, (format, file, baseIri) => read(format, bytesAt(file), { baseIri })),
    );
  });
});
