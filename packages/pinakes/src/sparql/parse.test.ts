import { describe, expect, it } from "vitest";
import { resolveIri } from "./iri.ts";
import { createSparql } from "./sparql.ts";
import { line, quads, select, testQuads, update, valueOf } from "./test-quads.ts";

const sparql = createSparql();
const problem = async (text: string) =>
  ((await sparql.query(testQuads(), text).catch((error: unknown) => error)) as Error).message;

describe("R-TG-122 what the text says wrong", () => {
  it.each([
    ["SELECT * {\n  ?a ?b }", "line 2, column 9", 'unexpected "}"', "expected one of"],
    ["SELECT * { ?a ?b ?c", "line 1, column 20", "the end of the text", "expected }"],
    ["SELECT *\n{ ?a foo:x ?c }", "line 2, column 6", '"foo:" is not declared', "PREFIX"],
    ["SELECT * { ?a ?b @@ }", "line 1, column 18", '"@"', ""],
    ["SELECT * { BIND(1 AS ?x)\nBIND(2 AS ?x) }", "?x is already bound", "", ""],
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

describe("R-TG-122 R-TG-123 what the text means", () => {
  it.each([
    [":a:b:c", "<http://x/a:b:c>"],
    [":audio:title", "<http://x/audio:title>"],
    ["::", "<http://x/:>"],
    [String.raw`:a\-b\.c\~\/\?\#\%\_`, "<http://x/a-b.c~/?#%_>"],
    [":a%20b", "<http://x/a%20b>"],
    [":1.5", "<http://x/1.5>"],
    [String.raw`:\u0061\U00000062`, "<http://x/ab>"],
  ])("the name %s, in queries and in updates", async (name, whole) => {
    const store = testQuads();
    await update(store, `INSERT DATA { ${name} ${name} ${name} }`);
    expect(store.quads()).toEqual([{ s: whole, p: whole, o: whole, g: "" }]);
    expect(await select(store, `SELECT (STR(?o) AS ?text) { ${name} ${name} ?o }`)).toEqual([
      `"${whole.slice(1, -1)}"`,
    ]);
    await update(store, `DELETE DATA { ${name} ${name} ${name} }`);
    expect(store.quads()).toEqual([]);
  });

  it.each([
    [".5", "0.5"],
    ["-.5", "-0.5"],
    ["+.5", "0.5"],
    ["1+.5", "1.5"],
    [".5e1", "5"],
  ])("the number %s", async (text, value) => {
    expect(await valueOf(`${text} = ${value}`)).toBe("true");
  });

  it("a number keeps its text, and a dot after one ends the triple", async () => {
    const store = testQuads();
    await update(store, "INSERT DATA { :a :p .5 . :a :q 1 . :a :r -.5 }");
    expect(store.quads().map(line)).toEqual([":a :p .5", ":a :q 1", ":a :r -.5"]);
  });

  it("an IRI that an expression makes is relative to the BASE in force, that of the text before that of the request", async () => {
    const options = { baseIri: "http://service/sparql" };
    expect(await valueOf('IRI("y")', options)).toBe("<http://service/y>");
    expect(await valueOf('IRI("y")')).toBe("");
    const of = async (text: string) =>
      (await sparql.query(testQuads(), text, options)) as { rows: AsyncIterable<unknown> };
    const rows = async (text: string) => Array.fromAsync((await of(text)).rows);
    expect(await rows('BASE <http://b/c/> SELECT (URI("y") AS ?i) (IRI("../z") AS ?j) {}')).toEqual([
      ["<http://b/c/y>", "<http://b/z>"],
    ]);
    expect(
      await rows(
        'BASE <http://b/> BASE <d/> SELECT ?i { BIND(IRI("y") AS ?i) FILTER EXISTS { FILTER(IRI("y") = <y>) } }',
      ),
    ).toEqual([["<http://b/d/y>"]]);
    const store = testQuads();
    const insert = 'INSERT { <s> <p> ?i } WHERE { BIND(IRI("x") AS ?i) }';
    await sparql.update(store, store, `${insert}; BASE <http://one/> ${insert}; BASE <two/> ${insert}`, options);
    expect(store.quads().map(({ o }) => o)).toEqual(["<http://service/x>", "<http://one/x>", "<http://one/two/x>"]);
  });

  it("a function that is not known is an error of its expression, and the query goes on", async () => {
    expect(await valueOf("COALESCE(<http://f/own>(1), 2)")).toBe("2");
    expect(await valueOf("COALESCE(xsd:integer(1, 2), 3)")).toBe("3");
    const store = testQuads(quads(":a :p 1\n:b :p 2"));
    expect(await select(store, "SELECT ?s (:own(?s) AS ?made) { ?s :p ?o } ORDER BY ?s")).toEqual([":a|", ":b|"]);
    expect(await select(store, "SELECT ?s { ?s :p ?o FILTER(:own(?o) || ?o = 2) }")).toEqual([":b"]);
    expect(await select(store, "SELECT ?s { ?s :p ?o FILTER(!:own(?o)) }")).toEqual([]);
  });

  it("a comment ends with its line, however that ends; brackets in escapes count for nothing", async () => {
    expect(await valueOf("1 # one\r + 1")).toBe("2");
    expect(await select(testQuads(), String.raw`SELECT (STR(:a\(\#b) AS ?x) {}`)).toEqual(['"http://x/a(#b"']);
  });

  it.each([
    ["a prefix that objects have anyway", "SELECT (toString:x AS ?x) {}", '"toString:" is not declared'],
    ["half of a pair", String.raw`SELECT ("\uD800" AS ?x) {}`, "not a Unicode character"],
    ["beyond Unicode", String.raw`SELECT ("\U00110000" AS ?x) {}`, "not a Unicode character"],
  ])("%s is refused", async (_, text, words) => {
    expect(await problem(text)).toContain(words);
  });

  it("a codepoint escape is its character, the last of a plane included, and is read once", async () => {
    expect(await valueOf(String.raw`"\U0000FFFF" = "${"\uFFFF"}"`)).toBe("true");
    expect(await valueOf(String.raw`STRLEN("\U0010FFFF\u0000")`)).toBe("2");
    expect(await valueOf(String.raw`"\u005Cn" = "\n"`)).toBe("true");
  });

  it.each([
    ['"2006-08-23"^^xsd:date = "2006-08-23Z"^^xsd:date', ""],
    ['"2006-08-23"^^xsd:date != "2006-08-23Z"^^xsd:date', ""],
    ['"2006-08-23"^^xsd:date < "2006-08-25Z"^^xsd:date', "true"],
    ['"2006-08-23T00:00:00"^^xsd:dateTime < "2006-08-23T14:00:00Z"^^xsd:dateTime', ""],
    ['"2006-08-23T00:00:00"^^xsd:dateTime < "2006-08-23T14:00:01Z"^^xsd:dateTime', "true"],
    ['"2006-08-23T00:00:00"^^xsd:dateTime = "2006-08-23T14:00:01Z"^^xsd:dateTime', "false"],
    ['"a"@en = "a"^^<http://x/own>', "false"],
    ['"a"@en != "a"^^xsd:integer', "true"],
    ['"a" = "a"^^<http://x/own>', ""],
  ])("R-TG-122 %s is %j", async (expression, value) => {
    expect(await valueOf(expression)).toBe(value);
  });
});
