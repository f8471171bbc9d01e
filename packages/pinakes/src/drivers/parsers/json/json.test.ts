import { describe, expect, it } from "vitest";
import { parseJson } from "./json.ts";
import { sectionOf } from "../test-files.ts";

describe("JSON", () => {
  it("is indented, with a section for each key", () => {
    const parsed = parseJson('{"name":"Z\\u00fcrich","list":[1,{"a":[]}], "big":12345678901234567890.50,"none":{}}');
    expect(parsed.text).toBe(`{
  "name": "Zürich",
  "list": [
    1,
    {
      "a": []
    }
  ],
  "big": 12345678901234567890.50,
  "none": {}
}`);
    expect(sectionOf(parsed, '"a"')).toEqual(["list"]);
    expect(parsed.sections.map(({ start, path }) => [path[0], parsed.text.slice(start, start + 4)])).toEqual([
      ["name", '"nam'],
      ["list", '"lis'],
      ["big", '"big'],
      ["none", '"non'],
    ]);
  });

  it("reads the same value that JSON.parse reads", () => {
    for (const source of ['[[],[[]],{"x":{"y":[true,false,null,-1e+5,"\\"\\\\"]}}]', "3", '"x"', " [ ] "]) {
      expect(JSON.parse(parseJson(source).text)).toEqual(JSON.parse(source));
    }
  });

  it("items of a list are sections by index", () => {
    const parsed = parseJson('[{"a":[1,2]},"two"]');
    expect(sectionOf(parsed, "two")).toEqual(["[1]"]);
    expect(parsed.sections).toHaveLength(2);
  });

  it("JSON lines stay one a line", () => {
    const parsed = parseJson('{"a": 1}\n\n{"a": [2, 3]}\n');
    expect(parsed.text).toBe('{"a":1}\n{"a":[2,3]}');
    expect(sectionOf(parsed, "[2,3]")).toEqual(["[1]"]);
  });

  it.each([
    ['{"a": 1,}', "line 1, column 9"],
    ['{\n  "a" 1\n}', "line 2, column 7"],
    ['{"a": 1', "line 1, column 8: it ends too early"],
    ["[1, 2", "it ends too early"],
    ["[1 2]", "line 1, column 4"],
    ["{} {}", "line 1, column 4"],
    ['{"a": 1}\n{"a": }', "line 2, column 7"],
    ["[01]", "line 1, column 3"],
    ["'x'", "line 1, column 1"],
    ['"a\nb"', "not closed on its line"],
    ['"\\x"', "invalid escape"],
    ["[}", "line 1, column 2"],
    ["[,]", "line 1, column 2"],
    ["nul", "line 1, column 1"],
  ])("%j is rejected with its position", (source, detail) => {
    expect(() => JSON.parse(source)).toThrow();
    expect(() => parseJson(source)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining(detail) }),
    );
  });

  it("100,000 levels work, and indentation does not outgrow the text", () => {
    const parsed = parseJson("[".repeat(100_000) + "]".repeat(100_000));
    expect(parsed.text.replaceAll(/\s/g, "")).toHaveLength(200_000);
    expect(parsed.text.length).toBeLessThan(10_000_000);
  });

  it("a string of ten million characters works", () => {
    expect(parseJson(`["${"x".repeat(10_000_000)}"]`).text.length).toBe(10_000_000 + 8);
  });
});
