import { describe, expect, it } from "vitest";
import { datatypeOf, termOf, termText } from "../domain/rdf.ts";
import { checkedBlank, checkedIri, checkedLiteral } from "./check-term.ts";
import { rdfLimits } from "./limits.ts";
import { parseTermParameter } from "./read/parse-term.ts";
import { rdfNs } from "./test-rdf.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";

describe("a term in a query string", () => {
  it.each([
    ["<http://e.org/a>", "<http://e.org/a>"],
    ["http://e.org/a", "<http://e.org/a>"],
    ["urn:x", "<urn:x>"],
    ['"words"', '"words"'],
    ['""', '""'],
    ['"say "hi""', '"say "hi""'],
    ['"a\\nb"', '"a\\nb"'],
    ['"chat"@FR-ca', '"chat"@fr-ca'],
    ['"1"^^<http://e.org/d>', '"1"^^<http://e.org/d>'],
    ['"1"^^xsd:integer', `"1"^^<${xsd}integer>`],
    ["_:b.1", "_:b.1"],
  ])("%s is %s", (given, text) => {
    expect(parseTermParameter("o", given)).toBe(text);
    expect(parseTermParameter("o", text)).toBe(text);
  });

  it("R-TG-84 an IRI, words, words with a language, a number and a blank node of the same name are five terms", () => {
    const texts = ["<x:x>", '"x"', '"x"@en', '"x"^^xsd:integer', "_:x"].map((text) => parseTermParameter("o", text));
    expect(new Set(texts).size).toBe(5);
    for (const text of texts) expect(termText(termOf(text))).toBe(text);
  });

  it("R-TG-84 words are the same term with and without xsd:string", () => {
    expect(parseTermParameter("o", '"x"^^xsd:string')).toBe(parseTermParameter("o", '"x"'));
    expect(parseTermParameter("o", `"x"^^<${xsd}string>`)).toBe('"x"');
    expect(datatypeOf('"x"')).toBe(`${xsd}string`);
  });

  it.each([
    ["", "empty"],
    ["a", "not absolute"],
    ["<a>", "not absolute"],
    ["<http://e.org/a", 'must end with ">"'],
    ["http://e.org/a b", "a space"],
    ["<http://e.org/a>b>", '">"'],
    ["http://e.org/\u0007", "U+0007"],
    ['"x', "no closing quote"],
    ['"', "no closing quote"],
    ['"x"en', "After the literal's last quote"],
    ['"x"@', "After the literal's last quote"],
    ['"x"@e n', "not a language tag"],
    ['"x"^^integer', "After the literal's last quote"],
    ['"x"^^<integer>', "not absolute"],
    [`"x"^^<${rdfNs}langString>`, "needs a language"],
    ['"a\ud800b"', "surrogate"],
    ["_:", "label"],
    ["_:a.", "label"],
    ["_:-a", "label"],
    ["_:a b", "label"],
  ])("%j is refused, with the name of the parameter", (given, words) => {
    expect(() => parseTermParameter("o", given)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringMatching(/^"o": /) as string }) as Error,
    );
    expect(() => parseTermParameter("o", given)).toThrow(words);
  });
});

describe("the limit of a term", () => {
  const most = rdfLimits.termBytesMax;

  it("is counted in bytes of UTF-8, for each kind", () => {
    expect(checkedLiteral("é".repeat(most / 2))).toHaveLength(most / 2 + 2);
    expect(() => checkedLiteral(`${"é".repeat(most / 2)}x`)).toThrow("longer than");
    const longest = `urn:${"x".repeat(most - 4)}`;
    expect(checkedIri(longest)).toBe(`<${longest}>`);
    expect(() => checkedIri(`${longest}x`)).toThrow("longer than");
    expect(checkedBlank("x".repeat(most))).toHaveLength(most + 2);
    expect(() => checkedBlank("x".repeat(most + 1))).toThrow("longer than");
  });

  it.each('<>"{}|\\^` \n\t\u0000\u007f\u0085'.split(""))("no IRI holds %j", (character) => {
    expect(() => checkedIri(`http://e.org/${character}`)).toThrow("which IRIs must not contain");
  });

  it("a literal has a language or a datatype, not both", () => {
    expect(checkedLiteral("x", { language: "en", datatype: `${rdfNs}langString` })).toBe('"x"@en');
    expect(() => checkedLiteral("x", { language: "en", datatype: `${xsd}string` })).toThrow("omit one of them");
  });
});
