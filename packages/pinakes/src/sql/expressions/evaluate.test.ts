import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { compileExpression, type EvaluationContext } from "./evaluate.ts";
import { sqlLimits } from "../limits.ts";
import { readCount, readParameters } from "../parse/parameters.ts";
import { parseQuery } from "../parse/parse-query.ts";

const now = Date.UTC(2030, 0, 2, 3, 4, 5, 6);
function evaluate(text: string, document: JsonObject = {}, parameters: JsonObject = {}): JsonValue | undefined {
  const { select } = parseQuery(`SELECT VALUE ${text} FROM c`);
  if (select.kind !== "value") throw new Error("not a value");
  const context: EvaluationContext = { parameters: readParameters(parameters), now, expanded: { rows: 0 } };
  return compileExpression(select.expression, context)([document]);
}

describe("three values", () => {
  it.each([
    ["undefined AND false", false],
    ["undefined AND true", undefined],
    ["undefined OR true", true],
    ["undefined OR false", undefined],
    ["NOT undefined", undefined],
    ["NOT 1", undefined],
    ["1 AND true", undefined],
    ["true AND true", true],
    ["c.x = 1", undefined],
    ["c.x != 1", undefined],
    ["undefined = undefined", undefined],
    ["null = null", true],
    ["null = 0", false],
    ["null != 0", true],
    ["1 = '1'", false],
    ["1 != '1'", true],
    ["1 < '2'", undefined],
    ["true > false", true],
    ["null <= null", true],
    ["null < 1", undefined],
    ["[1] < [2]", undefined],
    ["[1, {a: 2}] = [1, {a: 2}]", true],
    ["{a: 1, b: 2} = {b: 2, a: 1}", true],
    ["{a: 1} = {a: 1, b: 2}", false],
    ["1 IN (2, undefined, 1)", true],
    ["1 IN (2, undefined)", undefined],
    ["1 NOT IN (2, 3)", true],
    ["c.x IN (1)", undefined],
    ["2 BETWEEN 1 AND 3", true],
    ["2 NOT BETWEEN 1 AND 3", false],
    ["'2' BETWEEN 1 AND 3", undefined],
    ["c.x ?? 5", 5],
    ["null ?? 5", null],
    ["c.x ? 1 : 2", 2],
    ["true ? 1 : 2", 1],
    ["1 ? 1 : 2", 2],
  ])("%s is %s", (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });
});

describe("values", () => {
  it.each([
    ["1 + 2 * 3 - 4 / 2 % 3", 5],
    ["1 / 0", undefined],
    ["0 % 0", undefined],
    ["-0", 0],
    ["1 + 'a'", undefined],
    ["'a' || \"b\"", "ab"],
    ["'a' || 1", undefined],
    ["[1, undefined, 2]", [1, 2]],
    ["{a: undefined, 'b c': 1}", { "b c": 1 }],
    ["'it\\'s \\u00e9'", "it's é"],
    [".5e1", 5],
  ])("%s is %j", (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });

  it("are reached by names and places, never through a prototype", () => {
    const document = JSON.parse('{"a":{"b":[10,20]},"0":1,"__proto__":5}') as JsonObject;
    expect(evaluate("c.a.b[1]", document)).toBe(20);
    expect(evaluate('c["a"]["b"][0]', document)).toBe(10);
    expect(evaluate("c.a.b[2]", document)).toBeUndefined();
    expect(evaluate('c.a.b["length"]', document)).toBeUndefined();
    expect(evaluate("c[0]", document)).toBeUndefined();
    expect(evaluate('c["0"]', document)).toBe(1);
    expect(evaluate("c.constructor", document)).toBeUndefined();
    expect(evaluate("c.__proto__", document)).toBe(5);
    expect(evaluate("c[@name].b[@place]", document, { "@name": "a", place: 1 })).toBe(20);
  });

  it("of the system's clock are one moment", () => {
    expect(evaluate("GetCurrentDateTime()")).toBe("2030-01-02T03:04:05.0060000Z");
    expect(evaluate("getcurrenttimestamp()")).toBe(now);
  });
});

describe("functions", () => {
  it.each([
    ["IS_DEFINED(c.x)", false],
    ["IS_DEFINED(null)", true],
    ["IS_NULL(null)", true],
    ["IS_NULL(undefined)", false],
    ["IS_STRING('')", true],
    ["IS_NUMBER('1')", false],
    ["IS_BOOL(false)", true],
    ["IS_ARRAY([])", true],
    ["IS_OBJECT([])", false],
    ["IS_OBJECT(null)", false],
    ["CONTAINS('abc', 'B')", false],
    ["CONTAINS('abc', 'B', true)", true],
    ["CONTAINS('abc', 'B', 1)", undefined],
    ["STARTSWITH('abc', 'AB', true)", true],
    ["ENDSWITH('abc', 'bc')", true],
    ["ENDSWITH(1, 'bc')", undefined],
    ["LOWER('AÉ')", "aé"],
    ["UPPER('aé')", "AÉ"],
    ["LENGTH('abc')", 3],
    ["LENGTH(1)", undefined],
    ["SUBSTRING('abcdef', 1, 3)", "bcd"],
    ["SUBSTRING('abcdef', -2, 3)", "abc"],
    ["SUBSTRING('abc', 1, -1)", ""],
    ["SUBSTRING('abc', 0.5, 1)", undefined],
    ["CONCAT('a', 'b', 'c')", "abc"],
    ["CONCAT('a', 1)", undefined],
    ["ARRAY_CONTAINS([1, {a: 1}], {a: 1})", true],
    ["ARRAY_CONTAINS([{a: 1, b: 2}], {a: 1})", false],
    ["ARRAY_CONTAINS([{a: 1, b: 2}], {a: 1}, true)", true],
    ["ARRAY_CONTAINS(1, 1)", undefined],
    ["ARRAY_CONTAINS([1], undefined)", undefined],
    ["ARRAY_LENGTH([1, 2])", 2],
    ["ABS(-2)", 2],
    ["FLOOR(-1.5)", -2],
    ["CEILING(-0.5)", 0],
    ["ROUND(2.5)", 3],
    ["ROUND(-2.5)", -3],
    ["ROUND('x')", undefined],
    ["REGEXMATCH('abcd', 'ABC', 'i')", true],
    ["REGEXMATCH(1, 'a')", undefined],
    ["DateTimeAdd('mm', 1, '2030-01-31T10:00:00Z')", "2030-02-28T10:00:00.0000000Z"],
    ["DateTimeAdd('year', -1, '2032-02-29')", "2031-02-28T00:00:00.0000000Z"],
    ["DateTimeAdd('hh', 25, '2030-01-31T10:00:00.1234567Z')", "2030-02-01T11:00:00.1234567Z"],
    ["DateTimeAdd('ns', 250, '2030-01-31T10:00:00Z')", "2030-01-31T10:00:00.0000002Z"],
    ["DateTimeAdd('ms', -1, '1969-12-31T23:59:59.9999999Z')", "1969-12-31T23:59:59.9989999Z"],
    ["DateTimeAdd('fortnight', 1, '2030-01-31')", undefined],
    ["DateTimeAdd('dd', 1, '2030-02-30')", undefined],
    ["DateTimeAdd('dd', 1.5, '2030-02-20')", undefined],
    ["DateTimeAdd('yyyy', 9000, '2030-02-20')", undefined],
  ])("%s is %j", (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });
});

describe("LIKE", () => {
  it.each([
    ["'abc' LIKE 'a%'", true],
    ["'abc' LIKE '%c'", true],
    ["'abc' LIKE 'a_c'", true],
    ["'a\u{1f600}c' LIKE 'a_c'", true],
    ["'abc' LIKE 'ab'", false],
    ["'abc' NOT LIKE 'ab'", true],
    ["'abc' LIKE 'a[a-c]c'", true],
    ["'abc' LIKE 'a[^a-c]c'", false],
    ["'a-c' LIKE 'a[x-]c'", true],
    ["'100%' LIKE '100!%' ESCAPE '!'", true],
    ["'1000' LIKE '100!%' ESCAPE '!'", false],
    ["'a[b' LIKE 'a[b'", true],
    ["'' LIKE '%'", true],
    ["1 LIKE '%'", undefined],
    ["'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%c'", false],
  ])("%s is %s", (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });
});

describe("subqueries", () => {
  const document = {
    items: [
      { n: 1, in: ["x"] },
      { n: 2, in: ["y", "z"] },
    ],
    t: 9,
  };
  it("look into the document's arrays", () => {
    expect(evaluate("EXISTS(SELECT VALUE t FROM t IN c.items WHERE t.n = 2)", document)).toBe(true);
    expect(evaluate("EXISTS(SELECT VALUE t.missing FROM t IN c.items)", document)).toBe(false);
    expect(evaluate("EXISTS(SELECT VALUE t FROM t IN c.t)", document)).toBe(false);
    expect(
      evaluate("ARRAY(SELECT VALUE {n: t.n, x: u} FROM t IN c.items JOIN u IN t.in WHERE t.n > 1)", document),
    ).toEqual([
      { n: 2, x: "y" },
      { n: 2, x: "z" },
    ]);
    expect(
      evaluate(
        "ARRAY_LENGTH(ARRAY(SELECT VALUE 1 FROM t IN c.items WHERE EXISTS(SELECT VALUE t FROM t IN t.in WHERE t = 'x')))",
        document,
      ),
    ).toBe(1);
  });

  it("make no more rows of a document than their limit", () => {
    const rows = (count: number) => ({ a: Array.from({ length: count }, () => 1) });
    const text = "ARRAY_LENGTH(ARRAY(SELECT VALUE 1 FROM t IN c.a))";
    expect(evaluate(text, rows(sqlLimits.rowsPerDocumentMax))).toBe(sqlLimits.rowsPerDocumentMax);
    expect(() => evaluate(text, rows(sqlLimits.rowsPerDocumentMax + 1))).toThrow(/more than 10000 rows/);
    expect(() => evaluate("EXISTS(SELECT VALUE 1 FROM t IN c.a JOIN u IN c.a WHERE t = 2)", rows(101))).toThrow(
      /more than 10000 rows/,
    );
  });
});

describe("parameters", () => {
  it("are needed by name, and checked", () => {
    expect(evaluate("@a", {}, { "@a": { x: [1] } })).toEqual({ x: [1] });
    expect(() => evaluate("@a", {}, { b: 1 })).toThrow(
      'query: the parameter @a has no value; give it one in parameters: [{ "name": "@a", "value": … }].',
    );
    expect(() => readParameters([])).toThrow(/must be an object/);
    expect(() => readParameters({ a: 1, "@a": 2 })).toThrow(/@a is specified twice/);
    expect(() => readParameters({ a: Number.NaN })).toThrow(/parameters\/a/);
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
    expect(readParameters(many(sqlLimits.parametersMax)).size).toBe(sqlLimits.parametersMax);
    expect(() => readParameters(many(sqlLimits.parametersMax + 1))).toThrow(/at most 1000/);
  });

  it("give the numbers of TOP, OFFSET and LIMIT", () => {
    const parameters = readParameters({
      n: 5,
      bad: -1,
      text: "5",
      max: sqlLimits.offsetMax,
      over: sqlLimits.offsetMax + 1,
    });
    expect(readCount({ parameter: "n" }, "TOP", parameters)).toBe(5);
    expect(readCount({ parameter: "max" }, "TOP", parameters)).toBe(sqlLimits.offsetMax);
    for (const parameter of ["bad", "text", "over", "missing"]) {
      expect(() => readCount({ parameter }, "TOP", parameters)).toThrow(
        new RegExp(`TOP @${parameter} must be a whole number`),
      );
    }
  });
});
