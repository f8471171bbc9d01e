import { describe, expect, it } from "vitest";
import { resolveIri } from "./iri.ts";
import { createSparql } from "./sparql.ts";
import { testQuads } from "./test-quads.ts";

const sparql = createSparql();
const problem = async (text: string) => ((await sparql.query(testQuads(), text).catch((error: unknown) => error)) as Error).message;

describe("R-TG-122 what the text says wrong", () => {
  it.each([
    ["SELECT * {\n  ?a ?b }", "line 2, column 9", 'unexpected "}"', "expected one of"],
    ["SELECT * { ?a ?b ?c", "line 1, column 20", "the end of the text", "expected }"],
    ["SELECT *\n{ ?a foo:x ?c }", "line 2, column 6", '"foo:" is not declared', "PREFIX"],
    ["SELECT * { ?a ?b @@ }", "line 1, column 18", '"@"', ""],
    ["SELECT * { BIND(1 AS ?x)\nBIND(2 AS ?x) }", "?x has a value already", "", ""],
    ["SELECT (?o AS ?s) { ?s ?p ?o }", "?s", "", ""],
    ["SELECT ?x (COUNT(*) AS ?n) { ?x ?y ?z }", "?x is selected", "SAMPLE(?x)", ""],
    ["SELECT ?x (?z + 1 AS ?n) { ?x ?y ?z } GROUP BY ?x", "line 1, column 34", "?z", ""],
    ["SELECT * { ?x ?y ?z } GROUP BY ?x", "line", "", ""],
    ["SELECT * { ?s <relative> ?o }", "line 1", "<relative>", "BASE"],
  ])("%s", async (text, ...parts) => {
    await expect(sparql.query(testQuads(), text)).rejects.toMatchObject({ code: "INVALID" });
    for (const part of parts) expect(await problem(text)).toContain(part);
  });
});

it.each([
  ["g", "http://a/b/c/g"],
  ["./g", "http://a/b/c/g"],
  ["g/", "http://a/b/c/g/"],
  ["/g", "http://a/g"],
  ["//g", "http://g"],
  ["?y", "http://a/b/c/d;p?y"],
  ["g?y", "http://a/b/c/g?y"],
  ["#s", "http://a/b/c/d;p?q#s"],
  ["", "http://a/b/c/d;p?q"],
  [".", "http://a/b/c/"],
  ["..", "http://a/b/"],
  ["../g", "http://a/b/g"],
  ["../../../g", "http://a/g"],
  ["g;x=1/../y", "http://a/b/c/y"],
  ["x:y", "x:y"],
])("R-TG-122 a relative IRI %s is resolved as RFC 3986 says", (reference, whole) => {
  expect(resolveIri(reference, "http://a/b/c/d;p?q")).toBe(whole);
});
