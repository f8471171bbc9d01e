import { describe, expect, it } from "vitest";
import { createSparql } from "../sparql.ts";
import { quads, testQuads } from "../test-quads.ts";
import { writeSparqlResults, type SparqlResultFormat } from "./index.ts";

const sparql = createSparql();
const write = async (text: string, format: SparqlResultFormat, store = testQuads()) =>
  (await Array.fromAsync(writeSparqlResults(await sparql.query(store, text), format))).join("");

const all = `SELECT ?a ?b { VALUES (?a ?b) {
  (<http://x/a> "say \\"hi\\", you")
  ("two\\nlines\\t<&>"@en-GB 1)
  (UNDEF "c:\\\\d"^^<http://x/t>)
} }`;

describe("R-TG-122 formats of results", () => {
  it("application/sparql-results+json", async () => {
    expect(JSON.parse(await write(all, "application/sparql-results+json"))).toEqual({
      head: { vars: ["a", "b"] },
      results: {
        bindings: [
          { a: { type: "uri", value: "http://x/a" }, b: { type: "literal", value: 'say "hi", you' } },
          {
            a: { type: "literal", value: "two\nlines\t<&>", "xml:lang": "en-gb" },
            b: { type: "literal", value: "1", datatype: "http://www.w3.org/2001/XMLSchema#integer" },
          },
          { b: { type: "literal", value: "c:\\d", datatype: "http://x/t" } },
        ],
      },
    });
    expect(
      JSON.parse(
        await write("SELECT ?x { ?x ?y ?z }", "application/sparql-results+json", testQuads(quads("_:n :p 1"))),
      ),
    ).toMatchObject({
      results: { bindings: [{ x: { type: "bnode", value: "n" } }] },
    });
    expect(JSON.parse(await write("SELECT ?x { ?x ?y ?z }", "application/sparql-results+json"))).toEqual({
      head: { vars: ["x"] },
      results: { bindings: [] },
    });
    expect(JSON.parse(await write("ASK {}", "application/sparql-results+json"))).toEqual({ head: {}, boolean: true });
  });
  it("application/sparql-results+xml", async () => {
    expect(await write(all, "application/sparql-results+xml")).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<sparql xmlns="http://www.w3.org/2005/sparql-results#">
<head><variable name="a"/><variable name="b"/></head>
<results>
<result><binding name="a"><uri>http://x/a</uri></binding><binding name="b"><literal>say &quot;hi&quot;, you</literal></binding></result>
<result><binding name="a"><literal xml:lang="en-gb">two
lines\t&lt;&amp;&gt;</literal></binding><binding name="b"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result>
<result><binding name="b"><literal datatype="http://x/t">c:\\d</literal></binding></result>
</results>
</sparql>
`);
    expect(await write("ASK { ?s ?p ?o }", "application/sparql-results+xml")).toContain("<boolean>false</boolean>");
  });
  it("a character that XML cannot write is told, not dropped", async () => {
    await expect(
      write('SELECT ?v { VALUES ?v { "\\u0001" } }', "application/sparql-results+xml"),
    ).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
  });
  it("text/csv", async () => {
    expect(await write(all, "text/csv")).toBe(
      'a,b\r\nhttp://x/a,"say ""hi"", you"\r\n"two\nlines\t<&>",1\r\n,c:\\d\r\n',
    );
    expect(await write("SELECT ?x { ?x ?y ?z }", "text/csv", testQuads(quads("_:n :p 1")))).toBe("x\r\n_:n\r\n");
  });
  it("text/tab-separated-values", async () => {
    expect(await write(all, "text/tab-separated-values")).toBe(
      '?a\t?b\n<http://x/a>\t"say \\"hi\\", you"\n"two\\nlines\\t<&>"@en-gb\t"1"^^<http://www.w3.org/2001/XMLSchema#integer>\n\t"c:\\\\d"^^<http://x/t>\n',
    );
  });
  it("an ASK has no CSV or TSV, a CONSTRUCT no table", async () => {
    await expect(write("ASK {}", "text/csv")).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
    await expect(write("ASK {}", "text/tab-separated-values")).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
    await expect(write("CONSTRUCT WHERE { ?s ?p ?o }", "application/sparql-results+json")).rejects.toMatchObject({
      code: "NOT_SUPPORTED",
    });
  });
  it("R-TG-125 a result that passes a limit ends with an error in every format", async () => {
    const store = testQuads(quads(":a :p 1\n:b :p 2"));
    for (const format of [
      "application/sparql-results+json",
      "application/sparql-results+xml",
      "text/csv",
      "text/tab-separated-values",
    ] as const) {
      const result = await sparql.query(store, "SELECT * { ?s ?p ?o }", { limits: { resultRowsMax: 1 } });
      await expect(Array.fromAsync(writeSparqlResults(result, format))).rejects.toMatchObject({
        code: "LIMIT_EXCEEDED",
      });
    }
  });
});
